package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
		LockParameters parameters = of(REQUEST, null);
		assertThat(parameters.ttl()).isEqualTo(GLOBAL_TTL);
		assertThat(parameters.renew()).isTrue();
		assertThat(parameters.maxHold()).isEqualTo(Time.FOREVER);
	}

	@ParameterizedTest(name = "{0}")
	@CsvSource({ "global maximum,                         ,    ,  60, 30,  60",
			"own ttl above the global maximum,            120,    ,  60, 120, 120",
			"own ttl below the global maximum,            10,     ,  60, 10,  60",
			"own maximum below the global one,            10,   20,  60, 10,  20",
			"own maximum above the global one,            10,  120,  60, 10, 120",
			"own maximum below the global ttl,              ,    5,    , 5,    5" })
	void f08MaximumHoldEndsRenewal(String name, @Nullable Integer ttl, @Nullable Integer maxHold,
			@Nullable Integer global, int lease, int limit) {
		LockRequest request = REQUEST;
		request = (ttl != null) ? request.ttl(Duration.ofSeconds(ttl)) : request;
		request = (maxHold != null) ? request.maxHold(Duration.ofSeconds(maxHold)) : request;
		LockParameters parameters = of(request, (global != null) ? Duration.ofSeconds(global) : null);
		assertThat(parameters.renew()).isTrue();
		assertThat(parameters.ttl()).isEqualTo(Duration.ofSeconds(lease));
		assertThat(parameters.limitFrom(7)).isEqualTo(7 + Duration.ofSeconds(limit).toNanos());
	}

	@Test
	void leaseThatIsNotRenewedEndsWithItsTtl() {
		LockParameters parameters = of(REQUEST.renew(false), GLOBAL_TTL.multipliedBy(2));
		assertThat(parameters.renew()).isFalse();
		assertThat(parameters.limitFrom(0)).isEqualTo(GLOBAL_TTL.toNanos());
	}

	@Test
	void optionsThatContradictEachOtherAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> of(REQUEST.ttl(Duration.ofMillis(200)), null))
			.withMessageContaining("Give at least 300ms, or at least 100ms with renew(false)");
		assertThat(of(REQUEST.ttl(Duration.ofMillis(200)).renew(false), null).ttl()).hasMillis(200);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> of(REQUEST.maxHold(Duration.ofHours(1)).renew(false), null))
			.withMessageContaining("Leave out maxHold, or renew(false)");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> of(REQUEST.maxHold(Duration.ofSeconds(9)).ttl(Duration.ofSeconds(10)), null))
			.withMessageContaining("shorter than the ttl of 10000ms");
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
		return new StoreTraits(shortest, longest, false, false);
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
