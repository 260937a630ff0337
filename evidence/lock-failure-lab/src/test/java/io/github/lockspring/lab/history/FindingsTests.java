package io.github.lockspring.lab.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The verdict on histories written by hand, right and wrong ones. Leases are 1,000 ms.
 */
class FindingsTests {

	private static final long LEASE = 1_000;

	private final List<LabEvent> events = new ArrayList<>();

	@Test
	void shopsThatTakeTurnsAreSafe() {
		hold("shop-1", 100, 200, 1);
		hold("shop-2", 200, 300, 2);
		hold("shop-1", 300, 400, 3);
		assertThat(code(500)).isEqualTo(Code.SAFE);
	}

	@Test
	void sameSeatTwiceIsSoldTwice() {
		hold("shop-1", 100, 200, 1);
		hold("shop-2", 200, 300, 1);
		Findings findings = Findings.of(this.events, 400, LEASE);
		assertThat(findings.code()).isEqualTo(Code.SOLD_TWICE);
		assertThat(findings.overlaps()).isEmpty();
		assertThat(findings.doubleSales()).singleElement().satisfies((sales) -> assertThat(sales).hasSize(2));
	}

	/** In whatever order the lab heard of it. */
	@Test
	void overlapOfTwoShopsIsTwoHolders() {
		hold("shop-2", 200, 400, 2);
		hold("shop-1", 100, 300, 1);
		Findings findings = Findings.of(this.events, 500, LEASE);
		assertThat(findings.code()).isEqualTo(Code.TWO_HOLDERS);
		assertThat(findings.overlaps()).singleElement().satisfies((overlap) -> {
			assertThat(overlap.from()).isEqualTo(200);
			assertThat(overlap.to()).isEqualTo(300);
			assertThat(overlap.holders()).containsExactly("shop-1", "shop-2");
		});
	}

	@Test
	void holdsOfOneShopDoNotOverlapWithEachOther() {
		hold("shop-1", 100, 300, 1);
		hold("shop-1", 200, 400, 2);
		assertThat(code(500)).isEqualTo(Code.SAFE);
	}

	@Test
	void holdWithoutAnEndLastsToTheEndOfTheSale() {
		acquired("shop-1", 100, "a", false);
		hold("shop-2", 2_000, 2_100, 2);
		assertThat(code(2_200)).isEqualTo(Code.TWO_HOLDERS);
	}

	@Test
	void killedShopHoldsNothing() {
		acquired("shop-1", 100, "a", false);
		add("shop-1", "killed", 200);
		hold("shop-2", 1_150, 1_250, 1);
		assertThat(code(1_300)).isEqualTo(Code.SAFE);
	}

	@ParameterizedTest
	@CsvSource({ "1250, SAFE", "1350, TWO_HOLDERS" })
	void stoppedShopActsAgainWhenItContinues(double endOfTheOther, Code code) {
		acquired("shop-1", 100, "a", false);
		add("shop-1", "stopped", 150);
		hold("shop-2", 1_150, endOfTheOther, 1);
		add("shop-1", "continued", 1_300);
		add("shop-1", "released", 1_400, "hold", "a");
		assertThat(code(1_500)).isEqualTo(code);
	}

	@ParameterizedTest
	@CsvSource({ "1099, TWO_HOLDERS", "1100, SAFE" })
	void holderThatKnowsTheEndOfItsLeaseIsOneUntilThen(double beginOfTheOther, Code code) {
		acquired("shop-1", 100, "a", true);
		hold("shop-2", beginOfTheOther, 1_200, 1);
		add("shop-1", "released", 1_400, "hold", "a");
		assertThat(code(1_500)).isEqualTo(code);
	}

	@Test
	void renewedLeaseCounts() {
		acquired("shop-1", 100, "a", true);
		add("shop-1", "renewed", 500, "hold", "a", "leaseEnd", 1_490.0);
		hold("shop-2", 1_200, 1_300, 1);
		assertThat(code(1_500)).isEqualTo(Code.TWO_HOLDERS);
	}

	@Test
	void saleAfterTheEndOfAKnownLeaseIsNevertheless() {
		acquired("shop-1", 100, "a", true);
		hold("shop-2", 1_150, 1_250, 1);
		add("shop-1", "lost", 1_300, "hold", "a");
		add("shop-1", "sold", 1_310, "seat", 1L);
		assertThat(code(1_400)).isEqualTo(Code.SOLD_TWICE);
	}

	@Test
	void holdEndsWhenTheHolderIsToldThatItIsLostOrRefused() {
		acquired("shop-1", 100, "a", false);
		add("shop-1", "lost", 300, "hold", "a");
		acquired("shop-2", 300, "b", false);
		add("shop-2", "refused", 400, "hold", "b");
		hold("shop-1", 400, 500, 1);
		assertThat(code(600)).isEqualTo(Code.REFUSED);
	}

	@Test
	void moreThanALeaseAndASecondWithoutASaleIsStuck() {
		hold("shop-1", 100, 200, 1);
		add("shop-2", "asked", 250);
		assertThat(code(2_200)).isEqualTo(Code.SAFE);
		Findings findings = Findings.of(this.events, 2_201, LEASE);
		assertThat(findings.code()).isEqualTo(Code.STUCK);
		assertThat(findings.stuckMillis()).isEqualTo(2_001);
		assertThat(findings.stuckFrom()).isEqualTo(200);
	}

	@Test
	void longWorkIsNotStuck() {
		hold("shop-1", 100, 3_000, 1);
		assertThat(code(3_100)).isEqualTo(Code.SAFE);
	}

	@Test
	void stoppedHolderWhomNobodyReplacesIsStuck() {
		acquired("shop-1", 100, "a", false);
		add("shop-1", "stopped", 150);
		add("shop-1", "continued", 2_700);
		add("shop-1", "released", 2_750, "hold", "a");
		assertThat(code(2_800)).isEqualTo(Code.STUCK);
	}

	@ParameterizedTest
	@CsvSource({ "2300, UNAVAILABLE", "400, STUCK" })
	void errorsToTheEndOfALongGapAreUnavailable(int end, Code code) {
		hold("shop-1", 100, 200, 1);
		for (int at = 300; at < end; at += 100) {
			add("shop-1", "failed", at);
		}
		assertThat(code(2_300)).isEqualTo(code);
	}

	@Test
	void salesWithoutALockAreProgress() {
		for (int at = 100; at < 3_000; at += 500) {
			add("shop-1", "sold", at, "seat", (long) at);
		}
		assertThat(code(3_000)).isEqualTo(Code.SAFE);
	}

	@Test
	void doubleSaleOutweighsAllElse() {
		hold("shop-1", 100, 300, 1);
		hold("shop-2", 200, 400, 1);
		add("shop-1", "refused", 450);
		assertThat(code(3_000)).isEqualTo(Code.SOLD_TWICE);
	}

	private Code code(double end) {
		return Findings.of(this.events, end, LEASE).code();
	}

	private void hold(String shop, double from, double to, long seat) {
		String hold = shop + "@" + from;
		acquired(shop, from, hold, false);
		add(shop, "sold", to - 10, "hold", hold, "seat", seat);
		add(shop, "released", to, "hold", hold);
	}

	private void acquired(String shop, double at, String hold, boolean watched) {
		if (watched) {
			add(shop, "acquired", at, "hold", hold, "leaseEnd", at + LEASE, "watched", true);
		}
		else {
			add(shop, "acquired", at, "hold", hold, "leaseEnd", at + LEASE);
		}
	}

	private void add(String lane, String type, double at, Object... details) {
		Map<String, Object> facts = new HashMap<>();
		for (int i = 0; i < details.length; i += 2) {
			facts.put((String) details[i], details[i + 1]);
		}
		this.events.add(new LabEvent(this.events.size(), at, lane, type, facts));
	}

}
