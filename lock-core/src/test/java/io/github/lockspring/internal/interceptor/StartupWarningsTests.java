package io.github.lockspring.internal.interceptor;

import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.internal.aop.WrongAnnotationException;
import jakarta.annotation.PostConstruct;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a start warns of, since it may be intended or cannot be known for certain.
 */
@ExtendWith(OutputCaptureExtension.class)
class StartupWarningsTests {

	private static final String SHARED = "Locks without a name share one key space";

	private static final String ITSELF = "the bean calls this method on itself";

	@Test
	void bareKeysOfDifferentClassesAreNamedInOneWarning(CapturedOutput output) {
		start(Orders.class, Customers.class, Named.class, Texts.class);
		List<String> warnings = warnings(output, SHARED);
		assertThat(warnings).hasSize(1);
		assertThat(warnings.get(0)).contains("Orders.ship(String) (key = \"#id\")")
			.contains("Orders.cancel(String) (key = \"#id\")")
			.contains("Customers.update(Customer) (key = \"#customer.id\")")
			.contains("@DistributedLock(name = ")
			.doesNotContain("Named.", "Texts.");
	}

	@Test
	void bareKeysOfOneClassAreNoMistake(CapturedOutput output) {
		start(Orders.class, Named.class, Texts.class);
		assertThat(warnings(output, SHARED)).isEmpty();
	}

	@Test
	void methodsWithTheSameNameAndNoKeyAreNamed(CapturedOutput output) {
		start(NamedOnly.class, NamedOnlyToo.class, Named.class);
		List<String> warnings = warnings(output, "Methods with the same name and no key do not exclude each other");
		assertThat(warnings).singleElement()
			.asString()
			.contains("NamedOnly.daily() (name = \"report\")", "NamedOnlyToo.weekly() (name = \"report\")",
					"key = \"'all'\"")
			.doesNotContain("alone", "Named.");
	}

	@Test
	void keyThatRepeatsItsNameIsNamed(CapturedOutput output) {
		start(Doubled.class, Named.class, Texts.class);
		assertThat(warnings(output, "Keys begin with their name twice")).singleElement()
			.asString()
			.contains("Doubled.ship(String) (name = \"order\", key = \"{'order:' + #id, 'x'}\")", "Leave the name out")
			.doesNotContain("Named.", "Texts.", "Doubled.other");
	}

	@Test
	void wrongAnnotationsAreAllNamedWithoutCreatingABean() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(Orders.class, Wrong.class, WrongToo.class);
			context.registerBean("untyped", BeanOfAnyType.class);
			List<WrongAnnotationException> mistakes = LockAnnotationValidator.mistakes(context.getBeanFactory());
			assertThat(mistakes).hasSize(3)
				.anyMatch((mistake) -> mistake.getMessage().contains("Wrong.first(String)"))
				.anyMatch((mistake) -> mistake.getMessage().contains("Wrong.second(String)"))
				.anyMatch((mistake) -> mistake.getMessage().contains("WrongToo.run(String)"));
		}
	}

	@Test
	void callsOnTheBeanItselfAreNamedWithTheirPlaces(CapturedOutput output) {
		start(CallsItself.class);
		List<String> warnings = warnings(output, ITSELF);
		assertThat(warnings).hasSize(1);
		assertThat(warnings.get(0))
			.contains("@DistributedLock on " + CallsItself.class.getName() + ".ship(String, long)")
			.containsPattern("CallsItself.direct:\\d+")
			.containsPattern("CallsItself.choice:\\d+")
			.containsPattern("CallsItself.lambda:\\d+")
			.containsPattern("CallsItself.reference:\\d+")
			.containsPattern("CallsItself.loop:\\d+")
			.containsPattern("InheritedCall.inherited:\\d+")
			.contains("would run without the lock", "use LockTemplate")
			.doesNotContain("throughProxy", "throughField", "another:", "mixed");
	}

	@Test
	void callsUnderTheSameLockOfTheClassAreNoMistake(CapturedOutput output) {
		start(LockedClass.class);
		assertThat(warnings(output, ITSELF)).isEmpty();
	}

	@Test
	void callbackOfTheContainerIsNamed(CapturedOutput output) {
		start(Callback.class);
		List<String> warnings = warnings(output, "the container calls this method");
		assertThat(warnings).hasSize(1);
		assertThat(warnings.get(0)).contains("Callback.init()", "ApplicationReadyEvent");
	}

	private static void start(Class<?>... beans) {
		LockContexts.start(beans).close();
	}

	private static List<String> warnings(CapturedOutput output, String text) {
		return output.toString().lines().filter((line) -> line.contains(text) && line.contains("WARN")).toList();
	}

	record Customer(long id) {
	}

	static class Orders {

		@DistributedLock(key = "#id")
		public void ship(String id) {
		}

		@DistributedLock(key = "#id")
		public void cancel(String id) {
		}

	}

	static class NamedOnly {

		@DistributedLock(name = "report")
		public void daily() {
		}

		@DistributedLock(name = "alone")
		public void alone() {
		}

	}

	static class NamedOnlyToo {

		@DistributedLock(name = "report")
		public void weekly() {
		}

	}

	static class Doubled {

		@DistributedLock(name = "order", key = "{'order:' + #id, 'x'}")
		public void ship(String id) {
		}

		@DistributedLock(name = "order", key = "'reorder:' + #id")
		public void other(String id) {
		}

	}

	static class Customers {

		@DistributedLock(key = "#customer.id")
		public void update(Customer customer) {
		}

	}

	static class Wrong {

		Wrong() {
			throw new IllegalStateException("created");
		}

		@DistributedLock(key = "id")
		public void first(String id) {
		}

		@DistributedLock(key = "#id", ttl = "soon")
		public void second(String id) {
		}

	}

	static class WrongToo {

		@DistributedLock(key = "#other")
		public void run(String id) {
		}

	}

	/** Its objects are of a type that is not known before they are created. */
	static class BeanOfAnyType implements FactoryBean<Object> {

		@Override
		public Object getObject() {
			return new Object();
		}

		@Override
		public @Nullable Class<?> getObjectType() {
			return null;
		}

	}

	static class Named {

		@DistributedLock(name = "named", key = "#id")
		public void run(String id) {
		}

	}

	static class Texts {

		@DistributedLock(key = "'order-' + #id")
		public void concatenation(String id) {
		}

		@DistributedLock(key = "'order:' + #id")
		public void template(String id) {
		}

		@DistributedLock(key = "'report'")
		public void constant() {
		}

		@DistributedLock
		public void method() {
		}

		@DistributedLock(key = "#root.method.name + #id")
		public void method(String id) {
		}

	}

	abstract static class InheritedCall {

		public abstract String ship(String id, long count);

		public void inherited() {
			ship("a", 1);
		}

	}

	static class CallsItself extends InheritedCall {

		private final ObjectProvider<CallsItself> self;

		private @Nullable CallsItself proxy;

		private long calls;

		CallsItself(ObjectProvider<CallsItself> self) {
			this.self = self;
		}

		@Override
		@DistributedLock(key = "#id")
		public String ship(String id, long count) {
			return id;
		}

		public String direct() {
			return ship("a", this.calls * 2 + 1);
		}

		public String choice(boolean first, String[] ids) {
			return ship(first ? ids[0] : String.valueOf(ids[1].length()), first ? 1L : 2L);
		}

		public Supplier<String> lambda(String id) {
			return () -> ship(id, 1);
		}

		public void reference(List<String> ids) {
			apply(this::ship);
		}

		public void loop(List<String> ids) {
			for (String id : ids) {
				try {
					ship(id, this.calls + 1);
				}
				catch (IllegalStateException ex) {
					this.calls--;
				}
			}
		}

		public String throughProxy() {
			return this.self.getObject().ship("a", 1);
		}

		public String throughField() {
			this.proxy = Objects.requireNonNullElseGet(this.proxy, this.self::getObject);
			return this.proxy.ship("a", 1);
		}

		/**
		 * Which of the calls is on the bean itself cannot be told without more effort.
		 */
		public String mixed(CallsItself other) {
			return ship("a", 1) + other.ship("b", 1);
		}

		public String another(CallsItself other) {
			return other.ship(toString(), this.calls++);
		}

		private void apply(Shipping shipping) {
			shipping.ship("a", 1);
		}

		interface Shipping {

			String ship(String id, long count);

		}

	}

	@DistributedLock(name = "all", key = "'all'")
	static class LockedClass {

		public void all() {
			one();
			helper();
		}

		private void helper() {
			one();
			List.of("a").forEach((id) -> one());
		}

		public void one() {
		}

	}

	static class Callback {

		@PostConstruct
		@DistributedLock(key = "'init'")
		public void init() {
		}

	}

}
