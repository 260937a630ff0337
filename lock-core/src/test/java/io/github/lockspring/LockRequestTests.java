package io.github.lockspring;

import java.time.Duration;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.lockspring.internal.LabelledRequest;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assertions.assertTimeout;

/**
 * Tests for {@link LockRequest}.
 */
class LockRequestTests {

	private static final LockRequest REQUEST = LockRequest.of("order", 42);

	private static final Duration TTL = Duration.ofSeconds(30);

	@Test
	void nameAndKeyAreJoinedAndTheNameIsTheLabel() {
		assertThat(REQUEST.keys()).containsExactly("order:42");
		assertThat(REQUEST.nameOf("order:42")).isEqualTo("order");
	}

	@Test
	void valuesAreKeysByTheirText() {
		assertThat(LockRequest.of("a", OnLost.THROW).keys()).containsExactly("a:THROW");
		assertThat(LockRequest.of("a", Optional.of(7L)).keys()).containsExactly("a:7");
	}

	@Test
	void wholeKeyHasNoLabel() {
		LockRequest request = LockRequest.of("order:42");
		assertThat(request.keys()).containsExactly("order:42");
		assertThat(request.nameOf("order:42")).isNull();
	}

	@Test
	void differentNamesAndKeysAreDifferentLocks() {
		assertThat(LockRequest.of("a:b", "c").keys()).containsExactly("a%3Ab:c");
		assertThat(LockRequest.of("a", "b:c").keys()).containsExactly("a:b:c");
		assertThat(LockRequest.of("a%3Ab", "c").keys()).containsExactly("a%253Ab:c");
	}

	@Test
	void severalKeysAreOrderedWithoutDuplicates() {
		assertThat(LockRequest.ofKeys("order", List.of(3, 1, 3)).keys()).containsExactly("order:1", "order:3");
		LockRequest both = REQUEST.and("customer", 7).and("order", 42);
		assertThat(both.keys()).containsExactly("customer:7", "order:42");
		assertThat(both.nameOf("customer:7")).isEqualTo("customer");
		assertThat(both.nameOf("order:42")).isEqualTo("order");
		assertThat(both.nameOf("order:43")).isNull();
	}

	@Test
	void addedKeyHasTheSameOptions() {
		LockRequest request = REQUEST.ttl(TTL).renew(false).waitTime(TTL).and("customer", 7);
		assertThat(request.ttl()).isEqualTo(TTL);
		assertThat(request.isRenewed()).isFalse();
		assertThat(request.waitTime()).isEqualTo(TTL);
	}

	@Test
	void renewalIsOnUnlessItIsSwitchedOff() {
		assertThat(REQUEST.isRenewed()).isTrue();
		assertThat(REQUEST.ttl(TTL).isRenewed()).isTrue();
		assertThat(REQUEST.renew(false).isRenewed()).isFalse();
		assertThat(REQUEST.renew(false).ttl(TTL).onLost(OnLost.INTERRUPT).isRenewed()).isFalse();
	}

	@ParameterizedTest
	@MethodSource
	void whatIsWrongIsRefused(String problem, ThrowingCallable request) {
		assertThatIllegalArgumentException().isThrownBy(request).withMessageContaining(problem);
	}

	static Stream<Arguments> whatIsWrongIsRefused() {
		return Stream.of(wrong("ttl must not be null", () -> REQUEST.ttl(null)),
				wrong("Give at least 100ms", () -> REQUEST.ttl(Duration.ofMillis(99))),
				wrong("cannot be negative", () -> REQUEST.waitTime(Duration.ofMillis(-1))),
				wrong("Give at most 365d", () -> REQUEST.minHold(Duration.ofDays(366))),
				wrong("Give at least 300ms", () -> REQUEST.maxHold(Duration.ofMillis(299))),
				wrong("must not be null or empty", () -> LockRequest.of("")),
				wrong("'order' is an empty text", () -> LockRequest.of("order", "")),
				wrong("'order' is null", () -> LockRequest.of("order", Optional.empty())),
				wrong("Use LockRequest.ofKeys", () -> LockRequest.of("order", List.of(1))),
				wrong("type Object, whose toString() names an object", () -> LockRequest.of("order", new Object())),
				wrong("depends on the time zone", () -> LockRequest.of("order", new Date())),
				wrong("name of a lock must not be null or empty", () -> LockRequest.of("", 42)),
				wrong("at least one key", () -> LockRequest.ofKeys("order", List.of())),
				// defect 18
				wrong("at most 1000 keys, this one has 1001", () -> LockRequest.ofKeys("order", numbers(1_001))),
				wrong("at most 1000 keys, this one has 1001",
						() -> LockRequest.ofKeys("order", numbers(1_000)).and("customer", 7)));
	}

	private static List<Integer> numbers(int count) {
		return IntStream.range(0, count).boxed().toList();
	}

	// defect 15
	@Test
	void valueObjectWithALongTextIsRefusedByItsLengthBeforeItsTextIsSearched() {
		String dotted = "a.".repeat(20_000) + "@";
		assertTimeout(Duration.ofSeconds(5),
				() -> assertThatIllegalArgumentException()
					.isThrownBy(() -> LockRequest.of("order", new StringBuilder(dotted)))
					.withMessageContaining("at most 4096 characters"));
		assertTimeout(Duration.ofSeconds(5),
				() -> LockRequest.of("order", new StringBuilder("a.".repeat(2_000) + "@")));
	}

	private static Arguments wrong(String problem, ThrowingCallable request) {
		return Arguments.of(problem, request);
	}

	@Test
	void labelOfAnAnnotatedMethodIsNoPartOfItsKeys() {
		LockRequest request = new LabelledRequest(REQUEST.ttl(TTL), List.of("b", "a"), "Shop.sell");
		assertThat(request.keys()).containsExactly("a", "b");
		assertThat(request.nameOf("b")).isEqualTo("Shop.sell");
		assertThat(request.waitTime(TTL).nameOf("b")).isEqualTo("Shop.sell");
		assertThat(request.ttl()).isEqualTo(TTL);
	}

}
