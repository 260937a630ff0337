package io.github.lockspring.internal.interceptor;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.internal.base.LockKeys;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.expression.EvaluationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Named.named;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * From the arguments of a call to its keys.
 */
public class LockKeyTests {

	private final AnnotationConfigApplicationContext context = LockContexts.start(Keys.class, Job.class,
			OtherJob.class);

	private final RecordingLocks locks = this.context.getBean(RecordingLocks.class);

	private final Keys keys = this.context.getBean(Keys.class);

	@AfterEach
	void stop() {
		this.context.close();
	}

	@Test
	void namesOfParametersWinOverPositions() {
		this.keys.crossed("one", "two", "three");
		assertThat(this.locks.lastKeys()).containsExactly("one/two/two/three");
	}

	@Test
	void locksMethodItselfWithoutKey() {
		this.keys.itself(List.of(), 1);
		assertThat(this.locks.lastKeys()).containsExactly(Keys.class.getName() + ".itself(java.util.List,int)");
		assertThat(this.locks.last().nameOf(this.locks.lastKeys().get(0))).isEqualTo("Keys.itself");
	}

	@Test
	void inheritedMethodIsAnotherOneInEachClass() {
		this.context.getBean(Job.class).run();
		assertThat(this.locks.lastKeys()).containsExactly(Job.class.getName() + ".run()");
		this.context.getBean(OtherJob.class).run();
		assertThat(this.locks.lastKeys()).containsExactly(OtherJob.class.getName() + ".run()");
	}

	@Test
	void putsNameBeforeKey() {
		this.keys.named("42");
		assertThat(this.locks.lastKeys()).containsExactly("order:42");
		assertThat(this.locks.last().nameOf(this.locks.lastKeys().get(0))).isEqualTo("order");
	}

	@Test
	void colonOfANameIsNotThatBeforeTheKey() {
		this.keys.nameWithColon("c");
		assertThat(this.locks.lastKeys()).containsExactly("a%3Ab:c");
	}

	@Test
	void joinsTextAndValuesAsTheExpressionDoes() {
		this.keys.joined(new Order("42"), 7L, TimeUnit.DAYS);
		assertThat(this.locks.lastKeys()).containsExactly("order:42/10/DAYS");
		this.keys.joined(new Order("%3A"), 1L, Optional.of("x"));
		assertThat(this.locks.lastKeys()).containsExactly("order:%3A/4/x");
	}

	@Test
	void f28RefusalOfAPartNamesTheWholeKeyAndThePart() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.keys.joined(new Order("42"), 7L, null))
			.withMessageContainingAll("Keys.joined(Order, Long, Object)",
					"key = \"'order:' + #order.id + '/' + (#number + 3) + '/' + #value\"", ": #value: it gives null. ",
					"LockTemplate.execute inside an if");
		assertThatIllegalArgumentException().isThrownBy(() -> this.keys.joined(null, 7L, "x"))
			.withMessageContaining("#order.id: it reads a value of null");
	}

	@ParameterizedTest
	@MethodSource
	void f28PartThatIdentifiesNothingIsRefused(@Nullable Object part, String problem) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.keys.joined(new Order("42"), 7L, part))
			.withMessageContaining("#value: " + problem);
	}

	static Stream<Arguments> f28PartThatIdentifiesNothingIsRefused() {
		return Stream.of(
				arguments(new Order("1"), "it gives an object of the type Order, whose toString() names an object"),
				arguments(new Date(0),
						"it gives an object of the type Date, whose toString() depends on the time zone"),
				arguments(List.of("a"), "it gives a collection, which is joined as a whole"),
				arguments(new int[] { 1 }, "it gives a collection, which is joined as a whole"));
	}

	@ParameterizedTest
	@MethodSource
	void f28ElementThatIdentifiesNothingIsRefused(@Nullable Object element, String problem) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.keys.list(element))
			.withMessageContaining("#value: " + problem);
	}

	static Stream<Arguments> f28ElementThatIdentifiesNothingIsRefused() {
		return Stream.of(arguments(null, "it gives null"), arguments("", "it gives an empty text"),
				arguments(List.of("a"), "it gives a collection inside"));
	}

	@Test
	void takesValuesThatHaveText() {
		UUID uuid = UUID.randomUUID();
		assertThat(keyOf(uuid)).isEqualTo(uuid.toString());
		assertThat(keyOf(42)).isEqualTo("42");
		assertThat(keyOf(true)).isEqualTo("true");
		assertThat(keyOf('c')).isEqualTo("c");
		assertThat(keyOf(new StringBuilder("s"))).isEqualTo("s");
		assertThat(keyOf(TimeUnit.DAYS)).isEqualTo("DAYS");
		assertThat(keyOf(Spelled.ONE)).isEqualTo("ONE");
		assertThat(keyOf(new Id(7))).isEqualTo("Id[value=7]");
		assertThat(keyOf(Optional.of("o"))).isEqualTo("o");
		assertThat(keyOf(Path.of("a", "b"))).isEqualTo(Path.of("a", "b").toString());
		assertThat(keyOf("😀{}")).isEqualTo("😀{}");
	}

	@Test
	void f28RefusalNamesMethodExpressionAndRemedy() {
		assertThat(refused(null)).hasMessage("@DistributedLock on " + Keys.class.getName()
				+ ".any(Object): key = \"#value\": it gives"
				+ " null. Give it a value before the call. Where such calls need no lock, use LockTemplate.execute inside an"
				+ " if, instead of the annotation");
	}

	@ParameterizedTest
	@MethodSource
	void f28ValueThatIdentifiesNothingIsRefused(Object value, String problem) {
		assertThat(refused(value)).hasMessageContainingAll("Keys.any(Object)", "key = \"#value\"", problem)
			.satisfies((error) -> assertThat(error.getMessage()).hasSizeLessThan(500));
	}

	static Stream<Arguments> f28ValueThatIdentifiesNothingIsRefused() {
		return Stream.of(arguments(Optional.empty(), "gives null"),
				arguments(Arrays.asList("a", null), "null among its elements"), arguments("", "empty text"),
				arguments(List.of(""), "empty text"), arguments(List.of(), "empty collection"),
				arguments(named("[]", new String[0]), "empty collection"),
				arguments(named("huge", "x".repeat(1024 * 1024)), "at most " + LockKeys.MAX_LENGTH),
				arguments("\uD83D", "unpaired surrogate"), arguments(new Order("42"), "an object of the type Order"),
				arguments(new Object(), "toString()"), arguments(new Disguised(), "toString()"),
				arguments((Runnable) () -> {
				}, "toString()"), arguments(List.of(new Order("1")), "an object of the type Order"),
				arguments(Map.of("a", "b"), "its keySet()"), arguments(new byte[] { 1 }, "hexadecimal"),
				arguments(new char[] { 'a' }, "char[]"),
				arguments(List.of(List.of("a")), "a collection inside a collection"),
				arguments(List.of(Optional.of(List.of("a"))), "a collection inside"));
	}

	@ParameterizedTest
	@MethodSource
	void locksEachElement(Object several, String[] keys) {
		this.keys.any(several);
		assertThat(this.locks.lastKeys()).containsExactly(keys);
	}

	static Stream<Arguments> locksEachElement() {
		return Stream.of(arguments(List.of("b", "a", "b"), new String[] { "a", "b" }),
				arguments(Set.of(1L), new String[] { "1" }),
				arguments(new String[] { "b", "a" }, new String[] { "a", "b" }),
				arguments(new int[] { 2, 1 }, new String[] { "1", "2" }),
				arguments(List.of(Optional.of("a"), Optional.of(2)), new String[] { "2", "a" }),
				arguments(Optional.of(Set.of("b", "a")), new String[] { "a", "b" }));
	}

	@Test
	void f28PropertyOfNullNamesMethodAndExpression() {
		IllegalArgumentException error = catchThrowableOfType(IllegalArgumentException.class,
				() -> this.keys.property(null));
		assertThat(error).hasMessageContainingAll("Keys.property(Order)", "key = \"#order.id\"",
				"it reads a value of null: EL1007E", "Give it a value before the call", "inside an if");
		assertThat(error).hasCauseInstanceOf(EvaluationException.class);
	}

	@Test
	void keyThatAssignsIsRefused() {
		assertThat(catchThrowableOfType(IllegalArgumentException.class, () -> this.keys.assigning(new Order("42"))))
			.hasMessageContainingAll("Keys.assigning(Order)", "cannot be evaluated");
	}

	@Test
	@Tag("same-meaning-other-text")
	void f28IdentityInsideATextIsRefused() {
		Order order = new Order("42");
		for (Object value : List.of(new Parcel("p", order), new Parcel("p", new int[] { 1 }),
				new Parcel("p", new String[] { "a" }), new Parcel("p", new Order[0]), new Parcel("p", List.of(order)),
				new Parcel("p", (Runnable) () -> {
				}), Map.entry("a", order), new AtomicReference<>(order), new StringBuilder("x:").append(order))) {
			assertThat(refused(value)).as(value.toString())
				.hasMessageContainingAll("Keys.any(Object)", "key = \"#value\"", "names an object", "such as its id");
		}
	}

	@Test
	void textsWithAnAtSignThatNameNoObjectAreTaken() {
		for (Object value : List.of(new Parcel("bob@1a2b", 1), new Parcel("bob@cafe", "a@b.de"),
				new StringBuilder("bob@1a2b"), new Parcel("io.github@f00.de", 1), new Parcel("@1f", "@ff@"))) {
			assertThat(keyOf(value)).isEqualTo(value.toString());
		}
		for (String text : List.of("a@1f", "[I@1f", new Order("42").toString())) {
			assertThat(keyOf(text)).isEqualTo(text);
		}
	}

	@Test
	@Tag("same-meaning-other-text")
	void f28TextThatDependsOnTheTimeZoneIsRefused() {
		Date date = new Date(0);
		for (Object value : List.of(date, new java.sql.Date(0), new Timestamp(0), Calendar.getInstance(),
				Optional.of(date), List.of(date))) {
			assertThat(refused(value)).as(value.toString())
				.hasMessageContainingAll("key = \"#value\"", "time zone", "such as its id or its time");
		}
		assertThat(keyOf(Instant.EPOCH)).isEqualTo("1970-01-01T00:00:00Z");
		assertThat(keyOf(new Parcel("p", LocalDate.EPOCH))).isEqualTo("Parcel[id=p, content=1970-01-01]");
	}

	@Test
	void classesAreThoseOfTheApplicationWhateverTheThread() throws Exception {
		Thread thread = Thread.currentThread();
		ClassLoader before = thread.getContextClassLoader();
		try (URLClassLoader other = new URLClassLoader(new URL[0], null)) {
			thread.setContextClassLoader(other);
			this.keys.type("42");
			assertThat(this.locks.lastKeys()).containsExactly("name of 42");
		}
		finally {
			thread.setContextClassLoader(before);
		}
	}

	public static String name(String id) {
		return "name of " + id;
	}

	@Test
	void methodDoesNotRunWhenKeyIsRefused() {
		refused(null);
		assertThat(this.keys.ran()).doesNotContainNull();
	}

	@Test
	void compiledExpressionCopesWithOtherTypesThanAtFirst() {
		for (int i = 0; i < 300; i++) {
			this.keys.dynamic(new Order("a" + i));
			assertThat(this.locks.lastKeys()).containsExactly("a" + i);
		}
		this.keys.dynamic(new Parcel("7", ""));
		assertThat(this.locks.lastKeys()).containsExactly("7");
		this.keys.dynamic(new Order("z"));
		assertThat(this.locks.lastKeys()).containsExactly("z");
	}

	private String keyOf(Object value) {
		this.keys.any(value);
		return this.locks.lastKeys().get(0);
	}

	private IllegalArgumentException refused(@Nullable Object value) {
		return catchThrowableOfType(IllegalArgumentException.class, () -> this.keys.any(value));
	}

	public static class Order {

		private final String id;

		Order(String id) {
			this.id = id;
		}

		public String getId() {
			return this.id;
		}

	}

	record Id(int value) {
	}

	record Parcel(String id, Object content) {
	}

	enum Spelled {

		ONE;

		@Override
		public String toString() {
			return "one";
		}

	}

	/** As a generated proxy does. */
	static class Disguised {

		@Override
		public String toString() {
			return super.toString();
		}

	}

	abstract static class AbstractJob {

		@DistributedLock
		public void run() {
		}

	}

	static class Job extends AbstractJob {

	}

	static class OtherJob extends AbstractJob {

	}

	static class Keys {

		private final List<@Nullable Object> ran = new ArrayList<>();

		public List<@Nullable Object> ran() {
			return this.ran;
		}

		@DistributedLock(key = "#order.id")
		public void property(@Nullable Order order) {
		}

		@DistributedLock(key = "#order = 'changed'")
		public void assigning(Order order) {
		}

		@DistributedLock(key = "#p1 + '/' + #a0 + '/' + #a1 + '/' + #p2")
		public void crossed(String p1, String a0, String x) {
		}

		@DistributedLock
		public void itself(List<String> a, int b) {
		}

		@DistributedLock(name = "order", key = "#id")
		public void named(String id) {
		}

		@DistributedLock(key = "'order:' + #order.id + '/' + (#number + 3) + '/' + #value")
		public void joined(@Nullable Order order, Long number, @Nullable Object value) {
		}

		@DistributedLock(key = "{'a', #value}")
		public void list(@Nullable Object value) {
		}

		@DistributedLock(name = "a:b", key = "#id")
		public void nameWithColon(String id) {
		}

		@DistributedLock(key = "T(io.github.lockspring.internal.interceptor.LockKeyTests).name(#id)")
		public void type(String id) {
		}

		@DistributedLock(key = "#value")
		public void any(@Nullable Object value) {
			this.ran.add(value);
		}

		@DistributedLock(key = "#order.id")
		public void dynamic(Object order) {
		}

	}

}
