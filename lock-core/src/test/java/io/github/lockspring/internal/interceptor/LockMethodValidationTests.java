package io.github.lockspring.internal.interceptor;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.lockspring.FencingToken;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.LockException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.OnBusy;
import io.github.lockspring.OnLost;
import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.annotation.AnnotationDescription;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.StubMethod;
import org.jspecify.annotations.NonNull;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;

import org.springframework.core.ResolvableType;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is said at startup about methods that cannot be locked as they are annotated.
 */
class LockMethodValidationTests {

	@Test
	void refusesFallbackThatDoesNotExist() {
		refused(NoFallback.class, "run(String)", "fallback", "missing", "no method 'missing' in NoFallback",
				"Add String missing(String)");
	}

	@Test
	void refusesFallbackWithOtherParameters() {
		refused(OtherParameters.class, "run(String)", "fallback", "other", "parameters of 'other' do not fit",
				"Declare it as String other(String)");
	}

	@Test
	void refusesFallbackWithOtherLastParameter() {
		refused(OtherLastParameter.class, "run(String)", "fallback", "other", "parameters of 'other' do not fit",
				"LockNotAcquiredException as the last parameter");
	}

	@Test
	void refusesFallbackWithOtherReturnType() {
		refused(OtherReturnType.class, "run(String)", "fallback", "other", "'other' returns int",
				"Declare it as String other(String)");
	}

	@Test
	void refusesFallbackThatIsNotTheOnlyOne() {
		refused(TwoFallbacks.class, "run(String)", "fallback", "other", "there are 2 methods 'other' that fit",
				"a name of its own");
	}

	@Test
	void refusesFallbackToItself() {
		refused(ItselfAsFallback.class, "run(String)", "fallback", "run", "the locked method itself",
				"Name another method");
	}

	@Test
	void refusesFallbackTogetherWithSkip() {
		refused(FallbackAndSkip.class, "run(String)", "fallback", "other", "onBusy = SKIP says that nothing runs",
				"either the fallback or onBusy = SKIP");
	}

	@Test
	void refusesFallbackWhoseOwnAnnotationWouldHaveNoEffect() {
		refused(LockedFallback.class, "run(String)", "fallback", "other", "'other' has @DistributedLock",
				"the annotated method of another bean");
		refused(FencedFallback.class, "run(String)", "fallback", "other", "'other' has @Fenced",
				"Remove the annotation");
	}

	@Test
	void acceptsFallbacksThatFit() {
		LockContexts.start(GoodFallbacks.class).close();
	}

	@Test
	void refusesSkipWhereReturnTypeIsDeclaredNonNull() {
		refused(NonNullReturn.class, "run()", "onBusy", "SKIP", "return type String is declared non-null",
				"@Nullable String or Optional<String>");
		refused(NullMarkedReturn.class, "run()", "onBusy", "SKIP", "return type String is declared non-null",
				"@Nullable String or Optional<String>");
		refused(NullMarkedDeque.class, "run()", "onBusy", "SKIP", "return type Deque is declared non-null",
				"Optional<Deque>");
	}

	@Test
	void acceptsSkipWhereThereIsAnEmptyValue() {
		LockContexts.start(NullMarkedEmpties.class).close();
	}

	@ParameterizedTest
	@ValueSource(classes = { ReturnsPublisher.class, ReturnsFlowPublisher.class, ReturnsFuture.class,
			ReturnsCompletableFuture.class, ReturnsStream.class, ReturnsCallable.class, ReturnsGeneric.class,
			ReturnsSupplier.class, ReturnsIterator.class, ReturnsOptionalFuture.class, ReturnsFutures.class,
			ReturnsNestedCallables.class, ReturnsArrayOfFutures.class })
	void refusesMethodsThatReturnBeforeTheirWorkIsDone(Class<?> type) {
		Method method = ReflectionUtils.findMethod(type, "run");
		assertThat(method).isNotNull();
		String returned = ResolvableType.forMethodReturnType(method, type).toClass().getSimpleName();
		refused(type, "run()", "return type", returned, "the lock would be released before the work runs",
				"Lock a method that does the work");
	}

	@ParameterizedTest
	@ValueSource(strings = { "org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
			"io.reactivex.rxjava3.core.CompletableSource", "kotlinx.coroutines.flow.Flow" })
	void refusesDeferredTypesOfLibrariesThatNeedNotBeThere(String name) {
		Class<?> deferred = load(new ByteBuddy().makeInterface().name(name).make(), getClass().getClassLoader());
		Class<?> service = load(new ByteBuddy().subclass(Object.class)
			.name("example.DeferredService")
			.defineMethod("run", deferred, Visibility.PUBLIC)
			.intercept(StubMethod.INSTANCE)
			.annotateMethod(AnnotationDescription.Builder.ofType(DistributedLock.class).build())
			.make(), deferred.getClassLoader());
		refused(service, "run()", "return type", deferred.getSimpleName(),
				"its return type is " + deferred.getSimpleName(), "LockTemplate");
	}

	@Test
	void refusesSuspendFunction() {
		Class<?> continuation = load(new ByteBuddy().makeInterface().name("kotlin.coroutines.Continuation").make(),
				getClass().getClassLoader());
		Class<?> service = load(new ByteBuddy().subclass(Object.class)
			.name("example.SuspendService")
			.defineMethod("run", Object.class, Visibility.PUBLIC)
			.withParameters(continuation)
			.intercept(StubMethod.INSTANCE)
			.annotateMethod(AnnotationDescription.Builder.ofType(DistributedLock.class).build())
			.make(), continuation.getClassLoader());
		refused(service, "run(Continuation)", "", "", "it is a suspend function", "LockTemplate");
	}

	@Test
	void namesWhatTheReturnTypeContains() {
		refused(ReturnsNestedCallables.class, "run()", "return type", "Map", "its return type List contains Callable",
				"Lock a method that does the work");
	}

	@Test
	void acceptsTypeThatContainsItself() {
		LockContexts.start(ReturnsPath.class).close();
	}

	@Test
	void acceptsContainerThatIsASupplierToo() {
		LockContexts.start(ReturnsPage.class).close();
	}

	@Test
	void acceptsFutureOfAsyncMethod() {
		LockContexts.start(AsyncConfiguration.class, AsyncFuture.class).close();
	}

	@Test
	void refusesFutureOfAsyncMethodWhereAsyncIsNotEnabled() {
		refused(AsyncFuture.class, "run()", "return type", "CompletableFuture", "nothing here runs @Async methods",
				"@EnableAsync");
	}

	@Test
	void refusesMethodsThatNoProxyCanOverride() {
		refused(PrivateMethod.class, "run()", "", "", "a private method is never called through a proxy",
				"Make it a public method");
		refused(StaticMethod.class, "run()", "", "", "a static method is never called through a proxy",
				"Make it a public method");
		refused(FinalMethod.class, "run()", "", "", "no proxy can override a final method",
				"Remove final from the method");
		refused(FinalMethodOfLockedClass.class, "run()", "", "", "no proxy can override a final method",
				"Remove final from the method");
		refused(InheritedPrivateMethod.class, "run()", "", "", "a private method", "Make it a public method");
	}

	@Test
	void refusesFinalClass() {
		refused(FinalClass.class, "run()", "", "", "no proxy can extend a final class", "on an interface");
		refused(FinalClassWithInterface.class, "run()", "", "", "no proxy can extend a final class",
				"interface proxies");
		LockContexts.startWithInterfaceProxies(FinalClassWithInterface.class).close();
	}

	@Test
	void refusesFinalInterfaceMethodOnlyUnderClassProxies() {
		refused(FinalInterfaceMethod.class, "run()", "", "", "cannot override a final method",
				"Remove final from the method");
		LockContexts.startWithInterfaceProxies(FinalInterfaceMethod.class).close();
	}

	@Test
	void refusesMethodThatIsOnNoInterfaceOfAnInterfaceProxy() {
		for (Class<?> type : List.of(ExtraMethod.class, ProtectedMethod.class)) {
			LockDefinitionException error = LockContexts.failureWithInterfaceProxies(type);
			assertThat(error).hasMessageContainingAll(type.getSimpleName() + ".extra()", "proxied by its interfaces",
					"the method is on none of them", "spring.aop.proxy-target-class=true");
		}
		LockContexts.start(ExtraMethod.class, ProtectedMethod.class).close();
	}

	@Test
	void refusesRepeatedAnnotationsThatDisagree() {
		refused(DisagreeOnBusy.class, "run(String, String)", "onBusy", "SKIP", "another one says \"THROW\"",
				"Write the same onBusy in each");
		refused(DisagreeFallback.class, "run(String, String)", "fallback", "", "another one says \"other\"",
				"Write the same fallback in each");
		refused(DisagreeOnLost.class, "run(String, String)", "onLost", "NOTIFY", "another one says \"THROW\"",
				"Write the same onLost in each");
	}

	@Test
	void refusesTheSameKeyTwice() {
		refused(SameConstant.class, "run(String)", "key", "'a'", "name the same key twice", "Leave one of them out");
		refused(SameExpression.class, "run(String)", "key", "#a", "name the same key twice", "Leave one of them out");
		LockContexts.start(SameKeyWithConditions.class).close();
	}

	@Test
	void refusesTokenParameterWhereItIsNotClearWhichTokenItGets() {
		refused(TwoTokens.class, "run(FencingToken, FencingToken)", "", "", "2 parameters of the type FencingToken",
				"HeldLock.current(key)");
		refused(TokenOfRepeated.class, "run(String, String, FencingToken)", "", "",
				"several locks, each with a token of its own", "HeldLock.current(key)");
	}

	@Test
	void refusesExpressionThatUsesTheTokenParameter() {
		for (Class<?> type : List.of(TokenAsKey.class, TokenAsPositionInKey.class, TokenAsArgumentInKey.class)) {
			LockDefinitionException error = LockContexts.failure(type);
			assertThat(error).hasMessageContainingAll(type.getSimpleName() + ".run(String, FencingToken)", "key = ",
					"does not exist before the lock is taken", "Use other parameters");
		}
		refused(TokenInCondition.class, "run(FencingToken)", "condition", "#token == null",
				"#token is the token of the lock", "Use other parameters");
	}

	private static void refused(Class<?> type, String method, String attribute, String value, String problem,
			String remedy) {
		LockDefinitionException error = LockContexts.failure(type);
		assertThat(error.getDetails().method()).isEqualTo(type.getName() + '.' + method);
		assertThat(error.getDetails().attribute()).isEqualTo(attribute);
		assertThat(error.getDetails().value()).isEqualTo(value);
		assertThat(error.getDetails().problem()).contains(problem);
		assertThat(error.getDetails().remedy()).contains(remedy);
	}

	private static Class<?> load(DynamicType.Unloaded<?> type, ClassLoader parent) {
		// the class path of the tests may have a class of that name
		return type.load(parent, ClassLoadingStrategy.Default.CHILD_FIRST).getLoaded();
	}

	static class NoFallback {

		@DistributedLock(key = "#id", fallback = "missing")
		public String run(String id) {
			return id;
		}

	}

	static class OtherParameters {

		@DistributedLock(key = "#id", fallback = "other")
		public String run(String id) {
			return id;
		}

		String other(Integer id) {
			return "";
		}

	}

	static class OtherLastParameter {

		@DistributedLock(key = "#id", fallback = "other")
		public String run(String id) {
			return id;
		}

		String other(String id, IllegalStateException ex) {
			return "";
		}

		String other(String id, Object ex) {
			return "";
		}

	}

	static class OtherReturnType {

		@DistributedLock(key = "#id", fallback = "other")
		public String run(String id) {
			return id;
		}

		int other(String id) {
			return 0;
		}

	}

	static class TwoFallbacks {

		@DistributedLock(key = "#id", fallback = "other")
		public String run(String id) {
			return id;
		}

		String other(String id) {
			return "";
		}

		String other(String id, LockNotAcquiredException ex) {
			return "";
		}

	}

	static class ItselfAsFallback {

		@DistributedLock(key = "#id", fallback = "run")
		public String run(String id) {
			return id;
		}

	}

	static class LockedFallback {

		@DistributedLock(key = "#id", fallback = "other")
		public String run(String id) {
			return id;
		}

		@DistributedLock(name = "other", key = "#id")
		public String other(String id) {
			return "";
		}

	}

	interface FencedApi {

		@Fenced
		String other(String id);

	}

	static class FencedFallback implements FencedApi {

		@DistributedLock(key = "#id", fallback = "other")
		public String run(String id) {
			return id;
		}

		@Override
		public String other(String id) {
			return "";
		}

	}

	static class FallbackAndSkip {

		@DistributedLock(key = "#id", fallback = "other", onBusy = OnBusy.SKIP)
		public String run(String id) {
			return id;
		}

		String other(String id) {
			return "";
		}

	}

	abstract static class GenericBase<T> {

		@DistributedLock(key = "'base'", fallback = "whenBusy")
		public void handle(T value) {
		}

		private String wider(Object id, LockException ex) {
			return "";
		}

	}

	static class GoodFallbacks extends GenericBase<String> {

		@DistributedLock(key = "#id", fallback = "other")
		public CharSequence run(String id) {
			return id;
		}

		String other(CharSequence id, RuntimeException ex) {
			return "";
		}

		String other(int id) {
			return "";
		}

		@DistributedLock(key = "#id", fallback = "wider")
		public String inherited(String id) {
			return id;
		}

		void whenBusy(String value) {
		}

	}

	static class NonNullReturn {

		@DistributedLock(onBusy = OnBusy.SKIP)
		public @NonNull String run() {
			return "";
		}

	}

	@NullMarked
	static class NullMarkedReturn {

		@DistributedLock(onBusy = OnBusy.SKIP)
		public String run() {
			return "";
		}

	}

	@NullMarked
	static class NullMarkedDeque {

		@DistributedLock(onBusy = OnBusy.SKIP)
		public Deque<String> run() {
			return new ArrayDeque<>();
		}

	}

	@NullMarked
	static class NullMarkedEmpties {

		@DistributedLock(onBusy = OnBusy.SKIP)
		public List<String> list() {
			return List.of();
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public int number() {
			return 1;
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public void nothing() {
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public @Nullable String text() {
			return "";
		}

	}

	static class ReturnsPublisher {

		@DistributedLock("'x'")
		public Publisher<String> run() {
			return (subscriber) -> {
			};
		}

	}

	static class ReturnsFlowPublisher {

		@DistributedLock("'x'")
		public Flow.Publisher<String> run() {
			return (subscriber) -> {
			};
		}

	}

	static class ReturnsFuture {

		@DistributedLock("'x'")
		public Future<String> run() {
			return new CompletableFuture<>();
		}

	}

	static class ReturnsCompletableFuture {

		@DistributedLock("'x'")
		public CompletableFuture<String> run() {
			return new CompletableFuture<>();
		}

	}

	static class ReturnsStream {

		@DistributedLock("'x'")
		public Stream<String> run() {
			return Stream.of();
		}

	}

	static class ReturnsCallable {

		@DistributedLock("'x'")
		public Callable<String> run() {
			return () -> "";
		}

	}

	abstract static class AbstractGeneric<T> {

		@DistributedLock("'x'")
		public @Nullable T run() {
			return null;
		}

	}

	static class ReturnsGeneric extends AbstractGeneric<CompletableFuture<String>> {

	}

	@EnableAsync(proxyTargetClass = true)
	static class AsyncConfiguration {

	}

	static class AsyncFuture {

		@Async
		@DistributedLock("'x'")
		public CompletableFuture<String> run() {
			return CompletableFuture.completedFuture("");
		}

	}

	static class ReturnsSupplier {

		@DistributedLock("'x'")
		public Supplier<String> run() {
			return () -> "";
		}

	}

	static class ReturnsIterator {

		@DistributedLock("'x'")
		public Iterator<String> run() {
			return List.of("").iterator();
		}

	}

	static class ReturnsOptionalFuture {

		@DistributedLock("'x'")
		public Optional<CompletableFuture<String>> run() {
			return Optional.empty();
		}

	}

	static class ReturnsFutures {

		@DistributedLock("'x'")
		public List<Future<String>> run() {
			return List.of();
		}

	}

	static class ReturnsNestedCallables {

		@DistributedLock("'x'")
		public Map<String, List<Callable<String>>> run() {
			return Map.of();
		}

	}

	static class ReturnsArrayOfFutures {

		@DistributedLock("'x'")
		public Future<?>[] run() {
			return new Future<?>[0];
		}

	}

	/** As Spring Data's Page is. */
	interface Results<T> extends Iterable<T>, Supplier<Stream<T>> {

	}

	static class ReturnsPage {

		@DistributedLock("'page'")
		public @Nullable Results<String> run() {
			return null;
		}

		@DistributedLock("'pages'")
		public List<Results<String>> all() {
			return List.of();
		}

	}

	static class ReturnsPath {

		@DistributedLock("'x'")
		public List<Path> run() {
			return List.of();
		}

	}

	static class PrivateMethod {

		@DistributedLock("'x'")
		private void run() {
		}

	}

	static class InheritedPrivateMethod extends PrivateMethod {

	}

	static class StaticMethod {

		@DistributedLock("'x'")
		public static void run() {
		}

	}

	static class FinalMethod {

		@DistributedLock("'x'")
		public final void run() {
		}

	}

	@DistributedLock("'x'")
	static class FinalMethodOfLockedClass {

		public final void run() {
		}

	}

	static final class FinalClass {

		@DistributedLock("'x'")
		public void run() {
		}

	}

	interface Api {

		@DistributedLock("'x'")
		void run();

	}

	static final class FinalClassWithInterface implements Api {

		@Override
		public void run() {
		}

	}

	static class FinalInterfaceMethod implements Api {

		@Override
		public final void run() {
		}

	}

	static class ExtraMethod implements Api {

		@Override
		public void run() {
		}

		@DistributedLock("'y'")
		public void extra() {
		}

	}

	static class ProtectedMethod implements Api {

		@Override
		public void run() {
		}

		@DistributedLock("'y'")
		protected void extra() {
		}

	}

	static class DisagreeOnBusy {

		@DistributedLock(key = "#a")
		@DistributedLock(key = "#b", onBusy = OnBusy.SKIP)
		public void run(String a, String b) {
		}

	}

	static class DisagreeFallback {

		@DistributedLock(key = "#a", fallback = "other")
		@DistributedLock(key = "#b")
		public void run(String a, String b) {
		}

		void other(String a, String b) {
		}

	}

	static class DisagreeOnLost {

		@DistributedLock(key = "#a")
		@DistributedLock(key = "#b", onLost = OnLost.NOTIFY)
		public void run(String a, String b) {
		}

	}

	static class SameConstant {

		@DistributedLock(key = "'a'")
		@DistributedLock(key = "'a'")
		public void run(String a) {
		}

	}

	static class SameExpression {

		@DistributedLock(key = "#a")
		@DistributedLock(key = "#a")
		public void run(String a) {
		}

	}

	static class SameKeyWithConditions {

		@DistributedLock(key = "#a", ttl = "1s", condition = "#a == 'short'")
		@DistributedLock(key = "#a", ttl = "1m", condition = "#a != 'short'")
		public void run(String a) {
		}

	}

	static class TwoTokens {

		@DistributedLock("'x'")
		public void run(FencingToken one, FencingToken two) {
		}

	}

	static class TokenOfRepeated {

		@DistributedLock("#a")
		@DistributedLock("#b")
		public void run(String a, String b, FencingToken token) {
		}

	}

	static class TokenAsKey {

		@DistributedLock("#token.key()")
		public void run(String a, FencingToken token) {
		}

	}

	static class TokenAsPositionInKey {

		@DistributedLock("x:#{#a}:#{#p1}")
		public void run(String a, FencingToken token) {
		}

	}

	static class TokenAsArgumentInKey {

		@DistributedLock("#root.args[1].key")
		public void run(String a, FencingToken token) {
		}

	}

	static class TokenInCondition {

		@DistributedLock(key = "'x'", condition = "#token == null")
		public void run(FencingToken token) {
		}

	}

}
