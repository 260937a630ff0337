package io.github.lockspring.internal.interceptor;

import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Map;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.internal.aop.WrongAnnotationException;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.annotation.AnnotationDescription;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.StubMethod;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.stereotype.Component;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is said at startup about expressions that cannot be right.
 */
class LockExpressionValidatorTests {

	private static final String METHOD = Service.class.getName() + ".run(Order, List, Map)";

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			value = { "#order.id | 7", "#p0.id + '/' + #a0.customer.name | 7/Ann", "#order.customer.name.length() | 3",
					"#order.customer.vip | true", "#order.customer.name.bytes.length | 3",
					"#orders.values().!['order:' + id] | order:9", "#ids.?[#this != #order.id] | 8",
					"#orders[first].id | 9", "#orders['first'].id | 9", "#order?.id ?: 'none' | 7",
					"{#order.id, 'x'} | 7,x", "#root.args[0].id | 7", "#root.method.name + #order.id | run7",
					"#root.target.class.simpleName + #order.id | Service7", "@service.of(#order.id) | of 7",
					"T(java.time.LocalDate).EPOCH.toString() | 1970-01-01", "new String(#order.id) | 7",
					"'nightly-report' | nightly-report", "'a' + 'b' | ab", "'order:' + #order.id | order:7",
					"{'order:' + #order.id, 'b'} | b,order:7", "'a#{b}' + #order.id | a#{b}7",
					"{a: #order.id}['a'] | 7", "#ids.contains(#order.id) ? 'a' : 'b' | a",
					"#orders.?[value.id == '9'].keySet() | first" })
	void evaluatesKey(String key, String expected) {
		try (AnnotationConfigApplicationContext context = LockContexts
			.start(LockContexts.properties(Map.of("key", key), Service.class))) {
			context.getBean(Service.class)
				.run(new Order("7", new Customer()), List.of("7", "8"),
						Map.of("first", new Order("9", new Customer())));
			assertThat(context.getBean(RecordingLocks.class).lastKeys()).containsExactly(expected.split(","));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "#order.customer.zone.any", "#ids.size" })
	void acceptsWhatASubclassMayHave(String key) {
		LockContexts.start(LockContexts.properties(Map.of("key", key), Service.class)).close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "#p0.eMail", "#p0.xPos", "#p0._id", "#p0.kind", "#p0.class.simpleName", "#p0.URL",
			"#p0.Plain", "#p0.plain", "#p0.fluent", "#p0.code.number", "#p0.MAX", "#p0.entry.number",
			"#p1.value.number", "#p2.max" })
	void acceptsEveryPropertyThatExpressionsRead(String key) {
		try (AnnotationConfigApplicationContext context = LockContexts
			.start(LockContexts.properties(Map.of("key", key), UnusualProperties.class))) {
			context.getBean(UnusualProperties.class).run(new Unusual(), new Box<>(new LongCode()), Limits.class);
			assertThat(context.getBean(RecordingLocks.class).lastKeys()).singleElement().asString().isNotEmpty();
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', value = {
			"nightly-report | 'nightly' would be read from the root object | quote it: key = \"\"'nightly-report'\"\"",
			"order-#order.id | 'order' would be read from the root object | key = \"\"'order-' + #order.id\"\"",
			"order-#p0.id | 'order' would be read from the root object | key = \"\"'order-' + #p0.id\"\"",
			"order.id | 'order' would be read from the root object | Did you mean #order?",
			"order | 'order' would be read from the root object | Did you mean #order?",
			"#ids.contains(order) | 'order' would be read from the root object | Did you mean #order?",
			"method.name | 'method' would be read from the root object | Did you mean #root.method?",
			"find(#order) | 'find(#order)' would be read from the root object | Write # before the name",
			"2024-01-01 | it is a constant, but not text in quotes | Quote it: key = \"\"'2024-01-01'\"\"",
			"42 | it is a constant, but not text in quotes | Quote it",
			"#ordr.id | there is no parameter 'ordr' | Did you mean '#order'? The parameters are #order, #ids, #orders",
			"#p3 | there is no parameter 'p3' | The parameters are #order, #ids, #orders",
			"#order.find(#ordr) | there is no parameter 'ordr' | The parameters are",
			"#ids.![#elem] | there is no parameter 'elem' | The parameters are",
			"#root.arg[0] | #root has no property 'arg' | Use #root.method, #root.target or #root.args",
			"#hash(#order.id) | is a function, and there are none | T(type).method()",
			"@nobody.id(#order) | there is no bean 'nobody' | Write the name of a bean after the @",
			"#order. | it is not a valid expression | Write SpEL",
			"order:#order.id | it is not a valid expression | key = \"\"'order:' + #order.id\"\"",
			"#order.nme | #order has no property 'nme' | Correct the name. One that only a subclass has "
					+ "needs a method of a bean, as in @keys.of(#order)",
			"'order:' + #order.nme | #order has no property 'nme' | Correct the name",
			"{'order:' + #order.nme, 'x'} | #order has no property 'nme' | Correct the name",
			"#order?.nme.name | #order has no property 'nme' | Correct the name",
			"#ids.?[#this != #p0.idd] | #p0 has no property 'idd' | as in @keys.of(#p0)",
			"order:#{#order.id} | it is a template, and a key is one expression | with +: key = \"\"'order:' + #order.id\"\"",
			"#{order.id} | it is a template, and a key is one expression | with +: key = ",
			"#order.id, #ids | it is not a valid expression | Write SpEL",
			"order:#{#order.id | it is a template, and a key is one expression | key = \"\"'order:' + #order.id\"\"" })
	void refusesKeyThatCannotBeRight(String key, String problem, String remedy) {
		WrongAnnotationException error = LockContexts
			.failure(LockContexts.properties(Map.of("key", key), Service.class));
		assertThat(error.mistake().method()).isEqualTo(METHOD);
		assertThat(error.mistake().attribute()).isEqualTo("key");
		assertThat(error.mistake().value()).isEqualTo(key);
		assertThat(error.mistake().problem()).contains(problem);
		assertThat(error.mistake().remedy()).contains(remedy.replace("\"\"", "\""));
	}

	@Test
	void f28UnknownNameStopsTheStart() {
		WrongAnnotationException error = LockContexts
			.failure(LockContexts.properties(Map.of("key", "#oder.id"), Service.class));
		assertThat(error).hasMessage("@DistributedLock on " + METHOD + ": key = \"#oder.id\": "
				+ "there is no parameter 'oder'. Did you mean '#order'? The parameters are #order, #ids, #orders");
	}

	@Test
	void annotationOfAClassIsNamedWhereAMethodHasNotItsParameter() {
		WrongAnnotationException error = LockContexts.failure(Covering.class);
		assertThat(error).hasMessageContainingAll("Covering.all()", "there is no parameter 'id'",
				"The method has no parameters. The annotation covers all public methods of its class: annotate methods");
	}

	@Test
	void hintsAtCompilerOptionWhereNamesAreMissing() {
		Class<?> unnamed = unnamedParameter("#id");
		WrongAnnotationException error = LockContexts.failure(unnamed);
		assertThat(error.mistake().problem()).contains("there is no parameter 'id'", "not in the class file");
		assertThat(error.mistake().remedy()).contains("-parameters", "#p0");
		LockContexts.start(unnamedParameter("#p0")).close();
	}

	@ParameterizedTest
	@ValueSource(classes = { Object.class, PropertySourcesPlaceholderConfigurer.class })
	void refusesPlaceholderWithoutProperty(Class<?> lenientOrStrict) {
		WrongAnnotationException error = LockContexts.failure(Unresolvable.class, lenientOrStrict);
		assertThat(error).hasMessageContainingAll("Unresolvable.run()", "name = \"${nowhere.defined}\"",
				"the placeholder cannot be resolved", "Define the property");
	}

	@Test
	void refusesPlaceholderThatLeavesKeyEmpty() {
		WrongAnnotationException error = LockContexts.failure(EmptyKey.class);
		assertThat(error).hasMessageContainingAll("EmptyKey.run()", "key = \"${nowhere.defined:}\"",
				"blank once its placeholders are resolved", "leave the key out");
	}

	@Test
	void refusesExpressionAsName() {
		WrongAnnotationException error = LockContexts.failure(ExpressionName.class);
		assertThat(error).hasMessageContainingAll("ExpressionName.run(String)", "name = \"#id\"", "fixed text",
				"into the key");
	}

	@Test
	void f28HugeConstantKeyStopsTheStart() {
		WrongAnnotationException error = LockContexts
			.failure(LockContexts.properties(Map.of("key", "'" + "x".repeat(5000) + "'"), Service.class));
		assertThat(error.mistake().problem()).contains("at most 4096 characters", "5000");
		assertThat(error.mistake().remedy()).contains("a hash of the value");
	}

	private static Class<?> unnamedParameter(String key) {
		return new ByteBuddy().subclass(Object.class)
			.name("io.github.lockspring.internal.interceptor.Unnamed" + key.length() + System.nanoTime())
			.defineMethod("run", void.class, Visibility.PUBLIC)
			.withParameters(String.class)
			.intercept(StubMethod.INSTANCE)
			.annotateMethod(AnnotationDescription.Builder.ofType(DistributedLock.class).define("key", key).build())
			.make()
			.load(LockExpressionValidatorTests.class.getClassLoader(),
					ClassLoadingStrategy.UsingLookup.of(MethodHandles.lookup()))
			.getLoaded();
	}

	public static class Customer {

		public final Object zone = "EU";

		public String getName() {
			return "Ann";
		}

		public boolean isVip() {
			return true;
		}

	}

	public record Order(String id, Customer customer) {

		public String find(Object other) {
			return this.id;
		}

	}

	public static class Code {

		public String getText() {
			return "A1";
		}

	}

	public static class LongCode extends Code {

		public int getNumber() {
			return 1;
		}

	}

	public static class Box<T extends Code> {

		private final T value;

		Box(T value) {
			this.value = value;
		}

		public T getValue() {
			return this.value;
		}

	}

	public static final class Limits {

		public static final int max = 7;

		private Limits() {
		}

	}

	public abstract static class Coded<T extends Code> {

		public abstract Code getCode();

		public abstract T entry();

	}

	/** Properties as editors, Lombok and other languages name their getters. */
	public static class Unusual extends Coded<LongCode> {

		public static final int MAX = 9;

		public String geteMail() {
			return "ann@example.org";
		}

		public int getXPos() {
			return 3;
		}

		public String get_id() {
			return "7";
		}

		public String getURL() {
			return "https://example.org";
		}

		public String getPlain() {
			return "plain";
		}

		public String fluent() {
			return "fluent";
		}

		public static String getKind() {
			return "unusual";
		}

		@Override
		public LongCode getCode() {
			return new LongCode();
		}

		@Override
		public LongCode entry() {
			return new LongCode();
		}

	}

	static class UnusualProperties {

		@DistributedLock(key = "${key}")
		public void run(Unusual unusual, Box<LongCode> box, Class<?> type) {
		}

	}

	@Component("service")
	static class Service {

		@DistributedLock(key = "${key:#order.id}")
		public void run(Order order, List<String> ids, Map<String, Order> orders) {
		}

		public String of(String id) {
			return "of " + id;
		}

	}

	@DistributedLock(key = "#id")
	static class Covering {

		public void all() {
		}

		public void one(String id) {
		}

	}

	static class Unresolvable {

		@DistributedLock(name = "${nowhere.defined}")
		public void run() {
		}

	}

	static class EmptyKey {

		@DistributedLock(key = "${nowhere.defined:}")
		public void run() {
		}

	}

	static class ExpressionName {

		@DistributedLock(name = "#id")
		public void run(String id) {
		}

	}

}
