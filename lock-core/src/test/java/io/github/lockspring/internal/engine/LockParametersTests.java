package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.LockRequest;
import io.github.lockspring.LockSpec;
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
		LockParameters parameters = of(REQUEST.ttl(ttl).renew(), Duration.ofMinutes(1));
		assertThat(parameters.ttl()).isEqualTo(ttl);
		assertThat(parameters.maxHold()).isEqualTo(ttl.toNanos());
		assertThat(parameters.limitFrom(7)).isEqualTo(7 + ttl.toNanos());
	}

	@Test
	void f08GlobalMaximumHoldAboveTheLocksOwnTtlApplies() {
		LockParameters parameters = of(REQUEST.ttl(Duration.ofSeconds(10)).renew(), Duration.ofMinutes(1));
		assertThat(parameters.limitFrom(0)).isEqualTo(Duration.ofMinutes(1).toNanos());
	}

	@Test
	void f08OwnMaximumHoldWinsOverTheGlobalOne() {
		LockRequest request = REQUEST.ttl(Duration.ofSeconds(10)).renew().maxHold(Duration.ofSeconds(20));
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
	void f08GlobalMaximumHoldBoundsALeaseThatIsRenewedForItsTransaction() {
		LockRequest request = REQUEST.ttl(Duration.ofMinutes(2));
		assertThat(of(request, Duration.ofMinutes(1)).limitFrom(0)).isEqualTo(Duration.ofMinutes(2).toNanos());
		assertThat(LockParameters.of(spec(request), request, settings(Duration.ofMinutes(5)), ANY, true).limitFrom(0))
			.isEqualTo(Duration.ofMinutes(5).toNanos());
		assertThat(LockParameters.of(spec(request), request, settings(Duration.ofMinutes(1)), ANY, true).limitFrom(0))
			.isEqualTo(Duration.ofMinutes(2).toNanos());
	}

	@Test
	void leaseThatIsNotRenewedEndsWithItsTtl() {
		LockParameters parameters = of(REQUEST.ttl(Duration.ofSeconds(10)), Duration.ofMinutes(1));
		assertThat(parameters.renew()).isFalse();
		assertThat(parameters.limitFrom(0)).isEqualTo(Duration.ofSeconds(10).toNanos());
	}

	@Test
	void ttlThatTheStoreCannotGiveIsRefusedWithBothNumbers() {
		StoreTraits traits = traits(Duration.ofSeconds(2), null);
		assertThatIllegalArgumentException().isThrownBy(() -> on(traits, REQUEST.ttl(Duration.ofMillis(500))))
			.withMessage("Lock 'a' was requested with ttl = 500ms, and the store cannot give less than 2s:"
					+ " choose at least that, or another store");
		assertThat(on(traits, REQUEST.ttl(Duration.ofSeconds(2))).ttl()).isEqualTo(Duration.ofSeconds(2));
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
		LockParameters fixed = on(traits, REQUEST.ttl(Duration.ofSeconds(25)));
		assertThat(fixed.ttl()).isEqualTo(Duration.ofSeconds(10));
		assertThat(fixed.limitFrom(0)).isEqualTo(Duration.ofSeconds(25).toNanos());
		LockParameters renewed = on(traits, REQUEST);
		assertThat(renewed.ttl()).isEqualTo(Duration.ofSeconds(10));
		assertThat(renewed.maxHold()).isEqualTo(Time.FOREVER);
	}

	private static StoreTraits traits(Duration shortest, @Nullable Duration longest) {
		return new StoreTraits(shortest, shortest, longest);
	}

	private static LockParameters on(StoreTraits traits, LockRequest request) {
		return LockParameters.of(spec(request), request, settings(null), traits, false);
	}

	private static LockParameters of(LockRequest request, @Nullable Duration maxHold) {
		return LockParameters.of(spec(request), request, settings(maxHold), ANY, false);
	}

	private static LockSpec spec(LockRequest request) {
		return request.locks().get(0);
	}

	private static EngineSettings settings(@Nullable Duration maxHold) {
		EngineSettings defaults = EngineSettings.defaults();
		return new EngineSettings(GLOBAL_TTL, defaults.waitTime(), maxHold, defaults.commandTimeout(),
				defaults.renewalInterval(), defaults.renewalBatchSize(), defaults.maxHandoffTime(),
				defaults.shutdownTimeout(), false);
	}

}
