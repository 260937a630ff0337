package io.github.lockspring;

import java.time.Duration;
import java.util.Date;
import java.util.List;
import java.util.Optional;

import io.github.lockspring.internal.LabelledRequest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

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

	@Test
	void optionsOutOfTheirBoundsAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> REQUEST.ttl(Duration.ofMillis(99)))
			.withMessageContaining("ttl")
			.withMessageContaining("Give at least 100ms");
		assertThatIllegalArgumentException().isThrownBy(() -> REQUEST.waitTime(Duration.ofMillis(-1)))
			.withMessageContaining("waitTime")
			.withMessageContaining("cannot be negative");
		assertThatIllegalArgumentException().isThrownBy(() -> REQUEST.minHold(Duration.ofDays(366)))
			.withMessageContaining("minHold")
			.withMessageContaining("Give at most 365d");
		assertThatIllegalArgumentException().isThrownBy(() -> REQUEST.maxHold(Duration.ofMillis(299)))
			.withMessageContaining("maxHold")
			.withMessageContaining("Give at least 300ms");
	}

	@Test
	void nullIsNoOption() {
		assertThatIllegalArgumentException().isThrownBy(() -> REQUEST.ttl(null))
			.withMessageContaining("ttl must not be null");
	}

	@Test
	void keysThatIdentifyNothingAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of(""))
			.withMessageContaining("must not be null or empty");
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("order", ""))
			.withMessageContaining("'order' is an empty text");
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("order", Optional.empty()))
			.withMessageContaining("'order' is null");
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("order", List.of(1)))
			.withMessageContaining("Use LockRequest.ofKeys");
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("order", new Object()))
			.withMessageContaining("type Object, whose toString() names an object")
			.withMessageContaining("such as its id");
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("order", new Date()))
			.withMessageContaining("depends on the time zone");
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("", 42))
			.withMessageContaining("name of a lock must not be null or empty");
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.ofKeys("order", List.of()))
			.withMessageContaining("at least one key");
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
