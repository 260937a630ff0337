package io.github.lockspring.internal.interceptor;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.github.lockspring.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class LockHintsAotProcessorTests {

	private final RuntimeHints hints = hints(LockContexts.LockConfiguration.class, Shop.class, Keys.class);

	@ParameterizedTest
	@ValueSource(classes = { Order.class, Customer.class, Line.class, Article.class, Price.class, Rebate.class,
			Region.class, Tariff.class, Keys.class, Shop.class, Locale.class, LockKeyExpression.Root.class })
	void typesThatExpressionsReadAreKept(Class<?> type) {
		assertThat(RuntimeHintsPredicates.reflection()
			.onType(type)
			.withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS)).accepts(this.hints);
	}

	@Test
	void fieldThatAnExpressionReadsIsKept() throws Exception {
		assertThat(RuntimeHintsPredicates.reflection().onFieldAccess(Line.class.getField("article")))
			.accepts(this.hints);
	}

	@ParameterizedTest
	@ValueSource(strings = { "ship", "many", "root", "beans", "several" })
	void annotatedMethodIsKept(String name) {
		Method method = ReflectionUtils.getUniqueDeclaredMethods(Shop.class, (each) -> each.getName().equals(name))[0];
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(method)).accepts(this.hints);
	}

	@Test
	void typeThatNoExpressionReadsIsNotKept() {
		assertThat(RuntimeHintsPredicates.reflection().onType(Unread.class)).rejects(this.hints);
	}

	@Test
	void wrongAnnotationStopsTheBuild() {
		assertThatThrownBy(() -> hints(LockContexts.LockConfiguration.class, Wrong.class))
			.hasStackTraceContaining("Did you mean #order?");
	}

	@Test
	void applicationWithoutLocksNeedsNoHints() {
		assertThat(RuntimeHintsPredicates.reflection().onType(Customer.class)).rejects(hints(Shop.class, Keys.class));
	}

	private static RuntimeHints hints(Class<?>... beans) {
		DefaultGenerationContext generation = new DefaultGenerationContext(
				new ClassNameGenerator(ClassName.get("example", "Application")), new InMemoryGeneratedFiles());
		try (AnnotationConfigApplicationContext context = LockContexts.create(true)) {
			context.registerBean("keys", Keys.class);
			context.register(beans);
			new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
		}
		return generation.getRuntimeHints();
	}

	public static class Shop {

		private final Region region = new Region(new Tariff("a"));

		public Region getRegion() {
			return this.region;
		}

		@DistributedLock(key = "#order.customer.id")
		public void ship(Order order, Unread unread) {
		}

		@DistributedLock(name = "many", key = "#orders.?[#this != null].![lines[0].article.number]")
		public void many(List<Order> orders) {
		}

		@DistributedLock(key = "'root:' + #root.target.region.tariff.name")
		public void root() {
		}

		@DistributedLock(key = "@keys.of(#p0.values().iterator().next().amount, T(java.util.Locale).ROOT)")
		public void beans(Map<String, Price> prices) {
		}

		@DistributedLock(key = "{'k', 'rebate:' + #rebates['all'].percent}")
		public void several(Map<String, Rebate> rebates) {
		}

	}

	static class Wrong {

		@DistributedLock(key = "order")
		public void wrong(String order) {
		}

	}

	static class Keys {

		public String of(long amount, Locale locale) {
			return locale.toString() + amount;
		}

	}

	record Order(String id, Customer customer, List<Line> lines) {
	}

	record Customer(String id) {
	}

	static class Line {

		public final Article article = new Article(1);

	}

	record Article(int number) {
	}

	record Price(long amount) {
	}

	record Rebate(int percent) {
	}

	record Region(Tariff tariff) {
	}

	record Tariff(String name) {
	}

	record Unread(String id) {
	}

}
