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
import io.github.lockspring.DistributedLocks;
import org.junit.jupiter.api.Test;

import org.springframework.core.annotation.AliasFor;
import org.springframework.core.annotation.MergedAnnotation;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where annotations are found, and which one counts.
 */
class AnnotatedMethodsTests {

	private final AnnotatedMethods<DistributedLock, List<Found>> methods = new AnnotatedMethods<>(
			new AnnotationModel<>(DistributedLock.class, "key", "", ""), (method, userClass,
					annotations) -> annotations.stream().map((annotation) -> new Found(method, annotation)).toList());

	@Test
	void methodWinsOverClass() {
		assertThat(names(Both.class, "method")).containsExactly("method");
	}

	@Test
	void classCoversItsOtherPublicMethods() {
		assertThat(names(Both.class, "other")).containsExactly("class");
	}

	@Test
	void classDoesNotCoverMethodsThatAreNotPublic() {
		assertThat(names(Both.class, "packagePrivate")).isEmpty();
		assertThat(names(Both.class, "guarded")).isEmpty();
		assertThat(names(Both.class, "statically")).isEmpty();
	}

	@Test
	void classDoesNotCoverWhatEveryObjectHas() {
		assertThat(names(Both.class, "toString")).isEmpty();
		assertThat(names(Both.class, "hashCode")).isEmpty();
	}

	@Test
	void classWinsOverInterfaceMethod() {
		assertThat(names(Both.class, "api")).containsExactly("class");
	}

	@Test
	void interfaceMethodWinsOverInterface() {
		assertThat(names(Plain.class, "api")).containsExactly("api");
	}

	@Test
	void interfaceCoversItsOwnMethodsOnly() {
		assertThat(names(Plain.class, "general")).containsExactly("interface");
		assertThat(names(Plain.class, "own")).isEmpty();
	}

	@Test
	void superclassMethodCountsForItsOverride() {
		assertThat(names(Sub.class, "method")).containsExactly("method");
	}

	@Test
	void superclassCoversMethodsOfSubclass() {
		assertThat(names(Sub.class, "added")).containsExactly("class");
	}

	@Test
	void nearerAnnotationReplacesTheOneOfTheSuperclass() {
		assertThat(names(Redefined.class, "method")).containsExactly("redefined");
	}

	@Test
	void interfaceOfSubclassIsSeenForInheritedMethod() {
		assertThat(names(Adopted.class, "api")).containsExactly("api");
	}

	@Test
	void methodAndClassAnnotationsOfASuperInterfaceAreSeen() {
		assertThat(names(OfSubInterface.class, "api")).containsExactly("api");
		assertThat(names(OfSubInterface.class, "general")).containsExactly("interface");
		assertThat(names(OfSubInterface.class, "byDefault")).containsExactly("default");
		assertThat(names(OfSubInterface.class, "further")).isEmpty();
		assertThat(this.methods.isCandidate(OfSubInterface.class)).isTrue();
		assertThat(this.methods.in(OfSubInterface.class)).extracting((method) -> method.method().getName())
			.containsExactlyInAnyOrder("api", "general", "byDefault");
	}

	@Test
	void superInterfaceOfASuperclassIsSeen() {
		assertThat(names(Inheriting.class, "api")).containsExactly("api");
		assertThat(names(Inheriting.class, "general")).containsExactly("interface");
	}

	@Test
	void nearerInterfaceWinsOverItsSuperInterface() {
		assertThat(names(OfRedefining.class, "api")).containsExactly("redefined");
	}

	@Test
	void defaultMethodIsSeen() {
		assertThat(names(Plain.class, "byDefault")).containsExactly("default");
	}

	@Test
	void bridgeMethodGivesTheAnnotationOfItsMethod() {
		List<Method> methods = Arrays.stream(Bridged.class.getDeclaredMethods())
			.filter((method) -> method.getName().equals("handle"))
			.toList();
		assertThat(methods).hasSize(2)
			.allSatisfy((method) -> assertThat(this.methods.get(method, Bridged.class)).extracting(Found::name)

				.containsExactly("bridged"));
	}

	@Test
	void genericInterfaceMethodIsSeenFromBothSides() throws NoSuchMethodException {
		assertThat(names(Generic.class, "handle")).containsExactly("generic");
		Method declared = Handler.class.getMethod("handle", Object.class);
		AnnotatedMethod method = found(declared, Generic.class).get(0).method();
		assertThat(method.method()).isEqualTo(Generic.class.getMethod("handle", String.class));
		assertThat(method.declared()).isEqualTo(declared);
	}

	@Test
	void metaAnnotationPassesAttributesOn() {
		List<Found> annotations = found(Meta.class, "aliased");
		assertThat(annotations).hasSize(1);
		assertThat(annotations.get(0).annotation().getString("key")).isEqualTo("#id");
		assertThat(annotations.get(0).method().value()).isEqualTo("#id");
		assertThat(annotations.get(0).name()).isEqualTo("orders");
	}

	@Test
	void repeatedAnnotationsAreAllFound() {
		assertThat(names(Meta.class, "repeated")).containsExactly("first", "second");
	}

	@Test
	void containerWithOneAnnotationIsFound() {
		assertThat(names(Meta.class, "contained")).containsExactly("only");
	}

	@Test
	void metaAnnotationBesideAnnotationIsARepetition() {
		assertThat(names(Meta.class, "mixed")).containsExactlyInAnyOrder("orders", "own");
	}

	@Test
	void jdkProxyStandsForItsInterface() throws NoSuchMethodException {
		Class<?> proxy = Proxy
			.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Api.class },
					(object, method, arguments) -> null)
			.getClass();
		Found found = found(proxy.getMethod("api"), proxy).get(0);
		assertThat(found.name()).isEqualTo("api");
		assertThat(found.method().type()).isEqualTo(Api.class);
		assertThat(found(Api.class.getMethod("general"), proxy)).hasSize(1);
	}

	@Test
	void classWithoutAnnotationsIsNoCandidate() {
		assertThat(this.methods.isCandidate(String.class)).isFalse();
		assertThat(this.methods.isCandidate(AnnotatedMethodsTests.class)).isFalse();
		assertThat(this.methods.isCandidate(Plain.class)).isTrue();
		assertThat(this.methods.isCandidate(Sub.class)).isTrue();
	}

	private List<String> names(Class<?> type, String method) {
		return found(type, method).stream().map(Found::name).toList();
	}

	private List<Found> found(Class<?> type, String name) {
		for (Class<?> each : ClassHierarchy.of(type)) {
			for (Method method : each.getDeclaredMethods()) {
				if (method.getName().equals(name) && !method.isBridge()) {
					return found(method, type);
				}
			}
		}
		throw new AssertionError(name);
	}

	private List<Found> found(Method method, Class<?> type) {
		return Objects.requireNonNullElse(this.methods.get(method, type), List.of());
	}

	record Found(AnnotatedMethod method, MergedAnnotation<DistributedLock> annotation) {

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

		@Override
		public int hashCode() {
			return 1;
		}

		@Override
		public boolean equals(Object other) {
			return this == other;
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

	static class Meta {

		@OrderLock("#id")
		public void aliased(String id) {
		}

		@DistributedLock(name = "first")
		@DistributedLock(name = "second")
		public void repeated() {
		}

		@DistributedLocks(@DistributedLock(name = "only"))
		public void contained() {
		}

		@OrderLock("#id")
		@DistributedLock(name = "own")
		public void mixed(String id) {
		}

	}

}
