package io.github.lockspring.internal.interceptor;

import java.lang.annotation.Annotation;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
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
import org.jspecify.annotations.NonNull;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
	void refusesSkipWhereReturnTypeIsDeclaredNonNull() {
		refused(NonNullReturn.class, "run()", "onBusy", "SKIP", "return type String is declared non-null",
				"@Nullable String or Optional<String>");
		refused(NullMarkedReturn.class, "run()", "onBusy", "SKIP", "return type String is declared non-null",
				"@Nullable String or Optional<String>");
		refused(NullMarkedDeque.class, "run()", "onBusy", "SKIP", "return type Deque is declared non-null",
				"Optional<Deque>");
	}

	@ParameterizedTest
	@CsvSource({ "SkipsBoolean, boolean, Boolean", "SkipsInteger, Integer, Integer", "SkipsGeneric, Long, Long",
			"SkipsChar, char, Character" })
	void refusesSkipWhereAnEmptyValueLooksLikeAResult(String type, String returned, String boxed) throws Exception {
		refused(Class.forName(getClass().getName() + '$' + type), "run()", "onBusy", "SKIP",
				"a skipped call has no result, and the return type " + returned + " has no empty value",
				"Return Optional<" + boxed + "> or void, or leave onBusy out and catch LockNotAcquiredException");
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
				"Remove final from the method, or annotate the other methods instead of the class");
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
	void refusesFinalClassOfKotlinInItsWords() {
		Class<? extends Annotation> metadata = load(new ByteBuddy().makeAnnotation()
			.name("kotlin.Metadata")
			.annotateType(AnnotationDescription.Builder.ofType(Retention.class)
				.define("value", RetentionPolicy.RUNTIME)
				.build())
			.make(), getClass().getClassLoader()).asSubclass(Annotation.class);
		Class<?> service = load(new ByteBuddy().subclass(Object.class)
			.name("example.KotlinService")
			.modifiers(Visibility.PUBLIC, TypeManifestation.FINAL)
			.annotateType(AnnotationDescription.Builder.ofType(metadata).build())
			.defineMethod("run", void.class, Visibility.PUBLIC)
			.intercept(StubMethod.INSTANCE)
			.annotateMethod(AnnotationDescription.Builder.ofType(DistributedLock.class).build())
			.make(), metadata.getClassLoader());
		refused(service, "run()", "", "", "no proxy can extend a final class",
				"Declare the class open, as the compiler plugin kotlin-spring does for beans, or declare the method");
	}

	@Test
	void refusesSealedClass() {
		refused(SealedClass.class, "run()", "", "", "no proxy can extend a sealed class",
				"Remove sealed from the class");
	}

	@Test
	void refusesRecordAndEnum() {
		refused(RecordBean.class, "run()", "", "",
				"no proxy can extend a record, and the method would run without the lock",
				"Move the method to a class that is a bean, or use LockTemplate inside it");
		refused(RecordWithInterface.class, "run()", "", "", "no proxy can extend a record", "Move the method");
		LockContexts.startWithInterfaceProxies(RecordWithInterface.class).close();
		WrongAnnotationException error = LockContexts
			.failure((context) -> context.registerBean(EnumBean.class, () -> EnumBean.ONE));
		assertThat(error).hasMessageContainingAll("EnumBean$1.run()", "no proxy can extend an enum",
				"Move the method to a class that is a bean");
	}

	@Test
	void refusesPackagePrivateMethodOfAnotherPackage() {
		Class<?> elsewhere = load(new ByteBuddy().subclass(PackagePrivateMethod.class).name("example.Elsewhere").make(),
				getClass().getClassLoader());
		refused(elsewhere, "run()", "", "",
				"no proxy of Elsewhere can override a package-private method of another package, and it would run without",
				"Make it public or protected");
		LockContexts.start(PackagePrivateMethod.class).close();
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
			WrongAnnotationException error = LockContexts.failureWithInterfaceProxies(type);
			assertThat(error).hasMessageContainingAll(type.getSimpleName() + ".extra()", "proxied by its interfaces",
					"the method is on none of them", "spring.aop.proxy-target-class=true");
		}
		LockContexts.start(ExtraMethod.class, ProtectedMethod.class).close();
	}

	private static void refused(Class<?> type, String method, String attribute, String value, String problem,
			String remedy) {
		WrongAnnotationException error = LockContexts.failure(type);
		assertThat(error.mistake().method()).isEqualTo(type.getName() + '.' + method);
		assertThat(error.mistake().attribute()).isEqualTo(attribute);
		assertThat(error.mistake().value()).isEqualTo(value);
		assertThat(error.mistake().problem()).contains(problem);
		assertThat(error.mistake().remedy()).contains(remedy);
	}

	private static Class<?> load(DynamicType.Unloaded<?> type, ClassLoader parent) {
		// the class path of the tests may have a class of that name
		return type.load(parent, ClassLoadingStrategy.Default.CHILD_FIRST).getLoaded();
	}

	static class SkipsBoolean {

		@DistributedLock(onBusy = OnBusy.SKIP)
		public boolean run() {
			return true;
		}

	}

	static class SkipsInteger {

		@DistributedLock(onBusy = OnBusy.SKIP)
		public @Nullable Integer run() {
			return 1;
		}

	}

	static class SkipsChar {

		@DistributedLock(onBusy = OnBusy.SKIP)
		public char run() {
			return 'a';
		}

	}

	abstract static class AbstractSkips<T> {

		@DistributedLock(onBusy = OnBusy.SKIP)
		public @Nullable T run() {
			return null;
		}

	}

	static class SkipsGeneric extends AbstractSkips<Long> {

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
		public void nothing() {
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public @Nullable String text() {
			return "";
		}

	}

	static class ReturnsPublisher {

		@DistributedLock(key = "'x'")
		public Publisher<String> run() {
			return (subscriber) -> {
			};
		}

	}

	static class ReturnsFlowPublisher {

		@DistributedLock(key = "'x'")
		public Flow.Publisher<String> run() {
			return (subscriber) -> {
			};
		}

	}

	static class ReturnsFuture {

		@DistributedLock(key = "'x'")
		public Future<String> run() {
			return new CompletableFuture<>();
		}

	}

	static class ReturnsCompletableFuture {

		@DistributedLock(key = "'x'")
		public CompletableFuture<String> run() {
			return new CompletableFuture<>();
		}

	}

	static class ReturnsStream {

		@DistributedLock(key = "'x'")
		public Stream<String> run() {
			return Stream.of();
		}

	}

	static class ReturnsCallable {

		@DistributedLock(key = "'x'")
		public Callable<String> run() {
			return () -> "";
		}

	}

	abstract static class AbstractGeneric<T> {

		@DistributedLock(key = "'x'")
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
		@DistributedLock(key = "'x'")
		public CompletableFuture<String> run() {
			return CompletableFuture.completedFuture("");
		}

	}

	static class ReturnsSupplier {

		@DistributedLock(key = "'x'")
		public Supplier<String> run() {
			return () -> "";
		}

	}

	static class ReturnsIterator {

		@DistributedLock(key = "'x'")
		public Iterator<String> run() {
			return List.of("").iterator();
		}

	}

	static class ReturnsOptionalFuture {

		@DistributedLock(key = "'x'")
		public Optional<CompletableFuture<String>> run() {
			return Optional.empty();
		}

	}

	static class ReturnsFutures {

		@DistributedLock(key = "'x'")
		public List<Future<String>> run() {
			return List.of();
		}

	}

	static class ReturnsNestedCallables {

		@DistributedLock(key = "'x'")
		public Map<String, List<Callable<String>>> run() {
			return Map.of();
		}

	}

	static class ReturnsArrayOfFutures {

		@DistributedLock(key = "'x'")
		public Future<?>[] run() {
			return new Future<?>[0];
		}

	}

	/** As Spring Data's Page is. */
	interface Results<T> extends Iterable<T>, Supplier<Stream<T>> {

	}

	static class ReturnsPage {

		@DistributedLock(key = "'page'")
		public @Nullable Results<String> run() {
			return null;
		}

		@DistributedLock(key = "'pages'")
		public List<Results<String>> all() {
			return List.of();
		}

	}

	static class ReturnsPath {

		@DistributedLock(key = "'x'")
		public List<Path> run() {
			return List.of();
		}

	}

	static class PrivateMethod {

		@DistributedLock(key = "'x'")
		private void run() {
		}

	}

	static class InheritedPrivateMethod extends PrivateMethod {

	}

	static class StaticMethod {

		@DistributedLock(key = "'x'")
		public static void run() {
		}

	}

	static class FinalMethod {

		@DistributedLock(key = "'x'")
		public final void run() {
		}

	}

	@DistributedLock(key = "'x'")
	static class FinalMethodOfLockedClass {

		public final void run() {
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

	static class ProtectedMethod implements Api {

		@Override
		public void run() {
		}

		@DistributedLock(key = "'y'")
		protected void extra() {
		}

	}

}
