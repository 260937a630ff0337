package io.github.lockspring.internal.interceptor;

import java.lang.annotation.Annotation;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.nio.file.Path;
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

import io.github.lockspring.DistributedLock;
import io.github.lockspring.OnBusy;
import io.github.lockspring.internal.aop.WrongAnnotationException;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.annotation.AnnotationDescription;
import net.bytebuddy.description.modifier.TypeManifestation;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.StubMethod;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;

import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is said at startup about methods that cannot be locked as they are annotated.
 */
class LockMethodValidationTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "text | return type String is declared non-null | @Nullable String or Optional<String>",
					"deque | return type Deque is declared non-null | Optional<Deque>",
					"bool | the return type boolean has no empty value | Return Optional<Boolean> or void",
					"character | the return type char has no empty value | Return Optional<Character> or void",
					"number | the return type Integer has no empty value | catch LockNotAcquiredException" })
	void refusesSkipWithoutAnEmptyValue(String method, String problem, String remedy) {
		assertMistake(LockContexts.mistakes(Skipping.class).get(method), method + "()", "onBusy", "SKIP", problem,
				remedy);
	}

	@Test
	void refusesSkipWhereATypeArgumentHasNoEmptyValue() {
		assertMistake(LockContexts.failure(SkipsGeneric.class), "run()", "onBusy", "SKIP",
				"the return type Long has no empty value", "Optional<Long>");
	}

	@Test
	void acceptsSkipWhereThereIsAnEmptyValue() {
		assertThat(LockContexts.mistakes(Skipping.class)).doesNotContainKeys("list", "nothing", "maybe");
	}

	@ParameterizedTest
	@ValueSource(strings = { "publisher", "flowPublisher", "future", "completableFuture", "stream", "callable",
			"supplier", "iterator", "optionalFuture", "futures", "nestedCallables", "arrayOfFutures" })
	void refusesMethodsThatReturnBeforeTheirWorkIsDone(String name) {
		Method method = ReflectionUtils.findMethod(Early.class, name);
		assertThat(method).isNotNull();
		assertMistake(LockContexts.mistakes(Early.class).get(name), name + "()", "return type",
				method.getReturnType().getSimpleName(), "the lock would be released before the work runs",
				"Lock a method that does the work");
	}

	@Test
	void refusesFutureAsATypeArgument() {
		assertMistake(LockContexts.failure(ReturnsGeneric.class), "run()", "return type", "CompletableFuture",
				"its return type is CompletableFuture", "LockTemplate");
	}

	@Test
	void namesWhatTheReturnTypeContains() {
		assertThat(LockContexts.mistakes(Early.class).get("nestedCallables").mistake().problem())
			.contains("its return type List contains Callable");
	}

	@Test
	void acceptsContainersOfResultsThatAreThere() {
		assertThat(LockContexts.mistakes(Done.class)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
			"io.reactivex.rxjava3.core.CompletableSource", "kotlinx.coroutines.flow.Flow" })
	void refusesDeferredTypesOfLibrariesThatNeedNotBeThere(String name) {
		Class<?> deferred = load(new ByteBuddy().makeInterface().name(name).make(), getClass().getClassLoader());
		Class<?> service = load(locked(deferred).make(), deferred.getClassLoader());
		assertMistake(LockContexts.failure(service), "run()", "return type", deferred.getSimpleName(),
				"its return type is " + deferred.getSimpleName(), "LockTemplate");
	}

	@Test
	void refusesSuspendFunction() {
		Class<?> continuation = load(new ByteBuddy().makeInterface().name("kotlin.coroutines.Continuation").make(),
				getClass().getClassLoader());
		Class<?> service = load(locked(Object.class, continuation).make(), continuation.getClassLoader());
		assertMistake(LockContexts.failure(service), "run(Continuation)", "", "", "it is a suspend function",
				"LockTemplate");
	}

	@Test
	void acceptsFutureOfAsyncMethod() {
		LockContexts.start(AsyncConfiguration.class, AsyncFuture.class).close();
	}

	@Test
	void refusesFutureOfAsyncMethodWhereAsyncIsNotEnabled() {
		assertMistake(LockContexts.failure(AsyncFuture.class), "run()", "return type", "CompletableFuture",
				"nothing here runs @Async methods", "@EnableAsync");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = {
			"NoProxy | hidden | a private method is never called through a proxy | Make it a public method",
			"Heir | hidden | a private method is never called through a proxy | Make it a public method",
			"NoProxy | shared | a static method is never called through a proxy | Make it a public method",
			"NoProxy | fixed | no proxy can override a final method | Remove final from the method",
			"LockedClass | fixed | no proxy can override a final method | or annotate the other methods instead of",
			"FinalClass | run | no proxy can extend a final class | on an interface",
			"FinalClassWithInterface | run | no proxy can extend a final class | interface proxies",
			"SealedClass | run | no proxy can extend a sealed class | Remove sealed from the class",
			"RecordBean | run | no proxy can extend a record | Move the method to a class that is a bean, or use",
			"RecordWithInterface | run | no proxy can extend a record | Move the method",
			"EnumBean$1 | run | no proxy can extend an enum | Move the method to a class that is a bean" })
	void refusesMethodsThatNoProxyCanOverride(String type, String method, String problem, String remedy)
			throws ClassNotFoundException {
		assertMistake(LockContexts.mistakes(Class.forName(getClass().getName() + '$' + type)).get(method),
				method + "()", "", "", problem, remedy);
	}

	@Test
	void methodThatNoProxyCanOverrideStopsTheStart() {
		assertThat(LockContexts.failure(NoProxy.class)).hasMessageContaining("no proxy can override a final method");
	}

	@Test
	void refusesFinalClassOfKotlinInItsWords() {
		Class<? extends Annotation> metadata = load(new ByteBuddy().makeAnnotation()
			.name("kotlin.Metadata")
			.annotateType(AnnotationDescription.Builder.ofType(Retention.class)
				.define("value", RetentionPolicy.RUNTIME)
				.build())
			.make(), getClass().getClassLoader()).asSubclass(Annotation.class);
		Class<?> service = load(locked(void.class).modifiers(Visibility.PUBLIC, TypeManifestation.FINAL)
			.annotateType(AnnotationDescription.Builder.ofType(metadata).build())
			.make(), metadata.getClassLoader());
		assertMistake(LockContexts.failure(service), "run()", "", "", "no proxy can extend a final class",
				"Declare the class open, as the compiler plugin kotlin-spring does for beans, or declare the method");
	}

	@Test
	void refusesPackagePrivateMethodOfAnotherPackage() {
		Class<?> elsewhere = load(new ByteBuddy().subclass(PackagePrivateMethod.class).name("example.Elsewhere").make(),
				getClass().getClassLoader());
		assertMistake(LockContexts.failure(elsewhere), "run()", "", "",
				"no proxy of Elsewhere can override a package-private method of another package, and it would run without",
				"Make it public or protected");
		LockContexts.start(PackagePrivateMethod.class).close();
	}

	@Test
	void refusesFinalMethodOfAnInterfaceUnderClassProxies() {
		assertMistake(LockContexts.failure(FinalInterfaceMethod.class), "run()", "", "",
				"cannot override a final method", "Remove final from the method");
	}

	@ParameterizedTest
	@ValueSource(classes = { FinalInterfaceMethod.class, FinalClassWithInterface.class, RecordWithInterface.class })
	void acceptsWhatIsFinalUnderInterfaceProxies(Class<?> type) {
		LockContexts.startWithInterfaceProxies(type).close();
	}

	@Test
	void refusesMethodThatIsOnNoInterfaceOfAnInterfaceProxy() {
		assertThat(LockContexts.failureWithInterfaceProxies(ExtraMethod.class)).hasMessageContainingAll(
				"ExtraMethod.extra()", "proxied by its interfaces", "the method is on none of them",
				"spring.aop.proxy-target-class=true");
		LockContexts.start(ExtraMethod.class).close();
	}

	private static void assertMistake(@Nullable WrongAnnotationException error, String method, String attribute,
			String value, String problem, String remedy) {
		assertThat(error).isNotNull();
		assertThat(error.mistake().method()).endsWith('.' + method);
		assertThat(error.mistake().attribute()).isEqualTo(attribute);
		assertThat(error.mistake().value()).isEqualTo(value);
		assertThat(error.mistake().problem()).contains(problem);
		assertThat(error.mistake().remedy()).contains(remedy);
	}

	private static Class<?> load(DynamicType.Unloaded<?> type, ClassLoader parent) {
		// the class path of the tests may have a class of that name
		return type.load(parent, ClassLoadingStrategy.Default.CHILD_FIRST).getLoaded();
	}

	/** A class with one annotated method. */
	private static DynamicType.Builder<Object> locked(Class<?> returned, Class<?>... parameters) {
		return new ByteBuddy().subclass(Object.class)
			.name("example.Service")
			.defineMethod("run", returned, Visibility.PUBLIC)
			.withParameters(parameters)
			.intercept(StubMethod.INSTANCE)
			.annotateMethod(AnnotationDescription.Builder.ofType(DistributedLock.class).build());
	}

	@NullMarked
	@DistributedLock(onBusy = OnBusy.SKIP)
	interface Skipping {

		String text();

		Deque<String> deque();

		boolean bool();

		char character();

		@Nullable Integer number();

		List<String> list();

		void nothing();

		@Nullable String maybe();

	}

	@DistributedLock(key = "'x'")
	interface Early {

		Publisher<String> publisher();

		Flow.Publisher<String> flowPublisher();

		Future<String> future();

		CompletableFuture<String> completableFuture();

		Stream<String> stream();

		Callable<String> callable();

		Supplier<String> supplier();

		Iterator<String> iterator();

		Optional<CompletableFuture<String>> optionalFuture();

		List<Future<String>> futures();

		Map<String, List<Callable<String>>> nestedCallables();

		Future<?>[] arrayOfFutures();

	}

	@DistributedLock(key = "'x'")
	interface Done {

		/** A path contains paths. */
		List<Path> paths();

		Results<String> page();

		List<Results<String>> pages();

	}

	/** As Spring Data's Page is. */
	interface Results<T> extends Iterable<T>, Supplier<Stream<T>> {

	}

	abstract static class AbstractGeneric<T> {

		@DistributedLock(onBusy = OnBusy.SKIP)
		public @Nullable T run() {
			return null;
		}

	}

	static class SkipsGeneric extends AbstractGeneric<Long> {

	}

	static class ReturnsGeneric extends AbstractGeneric<CompletableFuture<String>> {

	}

	@EnableAsync(proxyTargetClass = true)
	static class AsyncConfiguration {

	}

	static class AsyncFuture {

		@Async
		@DistributedLock(key = "'x'")
		public CompletableFuture<String> run() {
			return CompletableFuture.completedFuture("");
		}

	}

	static class NoProxy {

		@DistributedLock(key = "'x'")
		private void hidden() {
		}

		@DistributedLock(key = "'x'")
		public static void shared() {
		}

		@DistributedLock(key = "'x'")
		public final void fixed() {
		}

	}

	static class Heir extends NoProxy {

	}

	@DistributedLock(key = "'x'")
	static class LockedClass {

		public final void fixed() {
		}

	}

	static final class FinalClass {

		@DistributedLock(key = "'x'")
		public void run() {
		}

	}

	interface Api {

		@DistributedLock(key = "'x'")
		void run();

	}

	static final class FinalClassWithInterface implements Api {

		@Override
		public void run() {
		}

	}

	static sealed class SealedClass {

		@DistributedLock(key = "'x'")
		public void run() {
		}

	}

	static final class Sealing extends SealedClass {

	}

	record RecordBean() {

		@DistributedLock(key = "'x'")
		public void run() {
		}

	}

	record RecordWithInterface() implements Api {

		@Override
		public void run() {
		}

	}

	enum EnumBean {

		ONE {

			@Override
			public void run() {
			}

		};

		@DistributedLock(key = "'x'")
		public void run() {
		}

	}

	public static class PackagePrivateMethod {

		@DistributedLock(key = "'x'")
		void run() {
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

		@DistributedLock(key = "'y'")
		public void extra() {
		}

	}

}
