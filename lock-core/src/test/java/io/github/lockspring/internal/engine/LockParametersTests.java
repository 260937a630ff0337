package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * How the options of a lock and the defaults of the application go together.
 */
class LockParametersTests {

	private static final Duration GLOBAL_TTL = Duration.ofSeconds(30);

	private static final StoreTraits ANY = StoreTraits.exact();

	private static final LockRequest REQUEST = LockRequest.of("a");

	@Test
	void defaultsApplyWhereTheLockSaysNothing() {
		LockParameters parameters = of(REQUEST, Duration.ofMinutes(1));
		assertThat(parameters.ttl()).isEqualTo(GLOBAL_TTL);
		assertThat(parameters.renew()).isTrue();
		assertThat(parameters.maxHold()).isEqualTo(Duration.ofMinutes(1).toNanos());
		assertThat(of(REQUEST, null).maxHold()).isEqualTo(Time.FOREVER);
	}

	@Test
	void f08GlobalMaximumHoldBelowTheLocksOwnTtlEndsRenewalAfterOneLease() {
		Duration ttl = Duration.ofMinutes(2);
		LockParameters parameters = of(REQUEST.ttl(ttl), Duration.ofMinutes(1));
		assertThat(parameters.ttl()).isEqualTo(ttl);
		assertThat(parameters.maxHold()).isEqualTo(ttl.toNanos());
		assertThat(parameters.limitFrom(7)).isEqualTo(7 + ttl.toNanos());
	}

	@Test
	void f08GlobalMaximumHoldAboveTheLocksOwnTtlApplies() {
		LockParameters parameters = of(REQUEST.ttl(Duration.ofSeconds(10)), Duration.ofMinutes(1));
		assertThat(parameters.limitFrom(0)).isEqualTo(Duration.ofMinutes(1).toNanos());
	}

	@Test
	void f08OwnMaximumHoldWinsOverTheGlobalOne() {
		LockRequest request = REQUEST.ttl(Duration.ofSeconds(10)).maxHold(Duration.ofSeconds(20));
		assertThat(of(request, Duration.ofMinutes(1)).maxHold()).isEqualTo(Duration.ofSeconds(20).toNanos());
		assertThat(of(request.maxHold(Duration.ofMinutes(2)), Duration.ofMinutes(1)).maxHold())
			.isEqualTo(Duration.ofMinutes(2).toNanos());
	}

	@Test
	void f08OwnMaximumHoldBelowTheGlobalTtlShortensTheLease() {
		LockParameters parameters = of(REQUEST.maxHold(Duration.ofSeconds(5)), null);
		assertThat(parameters.ttl()).isEqualTo(Duration.ofSeconds(5));
		assertThat(parameters.limitFrom(0)).isEqualTo(Duration.ofSeconds(5).toNanos());
	}

	@Test
	void renewalIsOffOnlyWhereTheRequestSaysSo() {
		assertThat(of(REQUEST.ttl(Duration.ofHours(1)), null).renew()).isTrue();
		assertThat(of(REQUEST.renew(false), null).renew()).isFalse();
		assertThat(of(REQUEST.renew(false), null).limitFrom(0)).isEqualTo(GLOBAL_TTL.toNanos());
		assertThat(of(REQUEST.renew(false), GLOBAL_TTL.multipliedBy(2)).limitFrom(0)).isEqualTo(GLOBAL_TTL.toNanos());
	}

	@Test
	void optionsThatContradictEachOtherAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> of(REQUEST.ttl(Duration.ofMillis(200)), null))
			.withMessageContaining("Give at least 300ms, or add renew(false)");
		assertThat(of(REQUEST.ttl(Duration.ofMillis(200)).renew(false), null).ttl()).hasMillis(200);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> of(REQUEST.maxHold(Duration.ofHours(1)).renew(false), null))
			.withMessageContaining("Leave out maxHold, or renew(false)");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> of(REQUEST.maxHold(Duration.ofSeconds(9)).ttl(Duration.ofSeconds(10)), null))
			.withMessageContaining("shorter than the ttl of 10000ms");
	}

	@Test
	void leaseThatIsNotRenewedEndsWithItsTtl() {
		LockParameters parameters = of(REQUEST.ttl(Duration.ofSeconds(10)).renew(false), Duration.ofMinutes(1));
		assertThat(parameters.renew()).isFalse();
		assertThat(parameters.limitFrom(0)).isEqualTo(Duration.ofSeconds(10).toNanos());
	}

	@Test
	void ttlThatTheStoreCannotGiveIsRefusedWithBothNumbers() {
		StoreTraits traits = traits(Duration.ofSeconds(2), null);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> on(traits, REQUEST.ttl(Duration.ofMillis(500)).renew(false)))
			.withMessage("Lock 'a' was requested with ttl = 500ms, and the store cannot give less than 2s:"
					+ " choose at least that, or another store");
		assertThat(on(traits, REQUEST.ttl(Duration.ofSeconds(2)).renew(false)).ttl()).isEqualTo(Duration.ofSeconds(2));
	}

	@Test
	void maximumHoldBelowTheStoresShortestTtlStillEndsTheHold() {
		LockParameters parameters = on(traits(Duration.ofSeconds(2), null), REQUEST.maxHold(Duration.ofSeconds(1)));
		assertThat(parameters.ttl()).isEqualTo(Duration.ofSeconds(2));
		assertThat(parameters.limitFrom(0)).isEqualTo(Duration.ofSeconds(1).toNanos());
	}

	@Test
	void ttlBeyondTheLongestLeaseIsReachedByRenewalsAndEndsTheHold() {
		StoreTraits traits = traits(Duration.ofSeconds(1), Duration.ofSeconds(10));
		LockParameters fixed = on(traits, REQUEST.ttl(Duration.ofSeconds(25)).renew(false));
		assertThat(fixed.ttl()).isEqualTo(Duration.ofSeconds(10));
		assertThat(fixed.limitFrom(0)).isEqualTo(Duration.ofSeconds(25).toNanos());
		LockParameters renewed = on(traits, REQUEST);
		assertThat(renewed.ttl()).isEqualTo(Duration.ofSeconds(10));
		assertThat(renewed.maxHold()).isEqualTo(Time.FOREVER);
	}

	private static StoreTraits traits(Duration shortest, @Nullable Duration longest) {
		return new StoreTraits(shortest, shortest, longest, false, false);
	}

	private static LockParameters on(StoreTraits traits, LockRequest request) {
		return LockParameters.of("a", request, settings(null), traits);
	}

	private static LockParameters of(LockRequest request, @Nullable Duration maxHold) {
		return LockParameters.of("a", request, settings(maxHold), ANY);
	}

	private static EngineSettings settings(@Nullable Duration maxHold) {
		EngineSettings defaults = EngineSettings.defaults();
		return new EngineSettings(GLOBAL_TTL, defaults.waitTime(), maxHold, defaults.commandTimeout(),
				defaults.shutdownTimeout(), false);
	}

}
