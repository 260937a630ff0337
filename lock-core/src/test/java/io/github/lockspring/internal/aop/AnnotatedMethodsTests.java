package io.github.lockspring.internal.aop;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.LockDefinitionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.core.annotation.AliasFor;
import org.springframework.core.annotation.MergedAnnotation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Where annotations are found, and which one counts.
 */
class AnnotatedMethodsTests {

	private final AnnotatedMethods<Found> methods = new AnnotatedMethods<>(
			new AnnotationModel(DistributedLock.class, "key", "", ""),
			(method, userClass) -> new Found(method, method.annotation()));

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "method wins over class | Both | method | method",
					"class covers its other public methods | Both | other | class",
					"but none that are not public | Both | packagePrivate |", "not public | Both | guarded |",
					"nor static ones | Both | statically |", "nor what every object has | Both | toString |",
					"class wins over interface method | Both | api | class",
					"interface method wins over interface | Plain | api | api",
					"interface covers its own methods | Plain | general | interface", "and no others | Plain | own |",
					"default method | Plain | byDefault | default",
					"superclass method counts for its override | Sub | method | method",
					"superclass covers methods of subclass | Sub | added | class",
					"nearer one replaces that of the superclass | Redefined | method | redefined",
					"interface of subclass, inherited method | Adopted | api | api",
					"super-interface, method | OfSubInterface | api | api",
					"super-interface itself | OfSubInterface | general | interface",
					"its default method | OfSubInterface | byDefault | default",
					"not what its heir adds | OfSubInterface | further |",
					"super-interface of a superclass, method | Inheriting | api | api",
					"itself | Inheriting | general | interface",
					"nearer interface wins over its super-interface | OfRedefining | api | redefined" })
	void nearestAnnotationCounts(String rule, String type, String method, @Nullable String expected)
			throws ClassNotFoundException {
		Found found = find(Class.forName(getClass().getName() + '$' + type), method);
		assertThat((found != null) ? found.name() : null).as(rule).isEqualTo(expected);
	}

	@Test
	void annotatedMethodsOfAClassAreThoseOfItsSuperInterfacesToo() {
		assertThat(this.methods.in(OfSubInterface.class)).extracting((method) -> method.method().getName())
			.containsExactlyInAnyOrder("api", "general", "byDefault");
	}

	@Test
	void bridgeMethodGivesTheAnnotationOfItsMethod() {
		List<Method> methods = Arrays.stream(Bridged.class.getDeclaredMethods())
			.filter((method) -> method.getName().equals("handle"))
			.toList();
		assertThat(methods).hasSize(2)
			.allSatisfy((method) -> assertThat(this.methods.get(method, Bridged.class)).extracting(Found::name)
				.isEqualTo("bridged"));
	}

	@Test
	void genericInterfaceMethodIsSeenFromBothSides() throws NoSuchMethodException {
		Method declared = Handler.class.getMethod("handle", Object.class);
		AnnotatedMethod method = found(declared, Generic.class).method();
		assertThat(find(Generic.class, "handle")).extracting(Found::name).isEqualTo("generic");
		assertThat(method.method()).isEqualTo(Generic.class.getMethod("handle", String.class));
		assertThat(method.declared()).isEqualTo(declared);
	}

	@Test
	void metaAnnotationPassesAttributesOn() {
		Found found = find(Meta.class, "aliased");
		assertThat(found).isNotNull();
		assertThat(found.annotation().getString("key")).isEqualTo("#id");
		assertThat(found.name()).isEqualTo("orders");
	}

	@Test
	void twoAnnotationsInOnePlaceAreRefused() {
		assertThatExceptionOfType(LockDefinitionException.class).isThrownBy(() -> find(Meta.class, "mixed"))
			.withMessageContainingAll("Meta.mixed(String)", "2 annotations stand for it: @DistributedLock, @OrderLock",
					"Leave one of them");
		assertThatExceptionOfType(LockDefinitionException.class).isThrownBy(() -> find(Meta.class, "twice"))
			.withMessageContaining("2 annotations stand for it: @OrderLock, @CustomerLock");
	}

	@Test
	void jdkProxyStandsForItsInterface() throws NoSuchMethodException {
		Class<?> proxy = Proxy
			.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Api.class },
					(object, method, arguments) -> null)
			.getClass();
		Found found = found(proxy.getMethod("api"), proxy);
		assertThat(found.name()).isEqualTo("api");
		assertThat(found.method().type()).isEqualTo(Api.class);
		assertThat(found(Api.class.getMethod("general"), proxy)).isNotNull();
	}

	@Test
	void classWithoutAnnotationsIsNoCandidate() {
		assertThat(this.methods.isCandidate(String.class)).isFalse();
		assertThat(this.methods.isCandidate(AnnotatedMethodsTests.class)).isFalse();
		assertThat(this.methods.isCandidate(OfSubInterface.class)).isTrue();
	}

	private @Nullable Found find(Class<?> type, String name) {
		for (Class<?> each : ClassHierarchy.of(type)) {
			for (Method method : each.getDeclaredMethods()) {
				if (method.getName().equals(name) && !method.isBridge()) {
					return this.methods.get(method, type);
				}
			}
		}
		throw new AssertionError(name);
	}

	private Found found(Method method, Class<?> type) {
		return Objects.requireNonNull(this.methods.get(method, type));
	}

	record Found(AnnotatedMethod method, MergedAnnotation<?> annotation) {

		String name() {
			return this.annotation.getString("name");
		}

	}

	@DistributedLock(name = "interface")
	interface Api {

		@DistributedLock(name = "api")
		default void api() {
		}

		default void general() {
		}

		@DistributedLock(name = "default")
		default void byDefault() {
		}

	}

	interface SubApi extends Api {

		default void further() {
		}

	}

	interface SubSubApi extends SubApi {

	}

	interface RedefiningApi extends SubApi {

		@Override
		@DistributedLock(name = "redefined")
		void api();

	}

	static class OfSubInterface implements SubSubApi {

		@Override
		public void api() {
		}

		@Override
		public void general() {
		}

		@Override
		public void further() {
		}

	}

	static class Inheriting extends OfSubInterface {

		@Override
		public void api() {
		}

	}

	static class OfRedefining implements RedefiningApi {

		@Override
		public void api() {
		}

	}

	@DistributedLock(name = "class")
	static class Both implements Api {

		@DistributedLock(name = "method")
		public void method() {
		}

		public void other() {
		}

		@Override
		public void api() {
		}

		void packagePrivate() {
		}

		protected void guarded() {
		}

		public static void statically() {
		}

		@Override
		public String toString() {
			return "both";
		}

	}

	static class Sub extends Both {

		@Override
		public void method() {
		}

		public void added() {
		}

	}

	static class Redefined extends Both {

		@Override
		@DistributedLock(name = "redefined")
		public void method() {
		}

	}

	static class Plain implements Api {

		@Override
		public void api() {
		}

		@Override
		public void general() {
		}

		public void own() {
		}

	}

	static class Unaware {

		public void api() {
		}

	}

	static class Adopted extends Unaware implements Api {

	}

	interface Handler<T> {

		@DistributedLock(name = "generic")
		void handle(T value);

	}

	static class Generic implements Handler<String> {

		@Override
		public void handle(String value) {
		}

	}

	interface PlainHandler<T> {

		void handle(T value);

	}

	static class Bridged implements PlainHandler<String> {

		@Override
		@DistributedLock(name = "bridged")
		public void handle(String value) {
		}

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(name = "orders")
	@interface OrderLock {

		@AliasFor(annotation = DistributedLock.class, attribute = "key")
		String value();

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(name = "customers")
	@interface CustomerLock {

	}

	static class Meta {

		@OrderLock("#id")
		public void aliased(String id) {
		}

		@OrderLock("#id")
		@DistributedLock(name = "own")
		public void mixed(String id) {
		}

		@OrderLock("#id")
		@CustomerLock
		public void twice(String id) {
		}

	}

}
