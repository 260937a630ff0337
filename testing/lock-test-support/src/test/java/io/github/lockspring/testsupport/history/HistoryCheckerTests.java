package io.github.lockspring.testsupport.history;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.testsupport.history.HistoryChecker.DataLoss;
import io.github.lockspring.testsupport.history.HistoryChecker.Kind;
import io.github.lockspring.testsupport.history.HistoryChecker.Violation;
import io.github.lockspring.testsupport.history.RecordedEvents.Acquisition;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The checker finds what is wrong in wrong histories and nothing in right ones. Times are
 * in milliseconds here.
 */
class HistoryCheckerTests {

	private static final long LEASE = 400;

	private final List<RecordedHold> holds = new ArrayList<>();

	private final List<Acquisition> acquisitions = new ArrayList<>();

	private final List<DataLoss> losses = new ArrayList<>();

	@Test
	void holdersOneAfterTheOtherAreRight() {
		hold("a", 1000, 0, 10, 20);
		hold("b", 2000, 5, 25, 40);
		hold("a", 3000, 30, 45, 50);
		assertRight();
	}

	@Test
	void emptyHistoryIsRight() {
		assertRight();
	}

	@Test
	void holderThatWasPausedAndNeverSureOfItsLockIsRight() {
		RecordedHold never = hold("a", 1000, 0, 500, 499);
		assertThat(never.wasValid()).isFalse();
		hold("b", 500_000, 410, 420, 600);
		assertRight();
	}

	@Test
	void overlapIsFound() {
		RecordedHold first = hold("a", 1000, 0, 10, 30);
		RecordedHold second = hold("b", 2000, 5, 25, 40);
		assertWrong(Kind.OVERLAP, first, second);
	}

	@Test
	void overlapWithinOneWorkerIsFound() {
		RecordedHold first = hold("a", 1000, 0, 10, 30);
		RecordedHold second = hold("a", 1001, 5, 29, 40);
		assertWrong(Kind.OVERLAP, first, second);
	}

	@Test
	void nestedHoldIsFound() {
		RecordedHold outer = hold("a", 1000, 0, 10, 100);
		RecordedHold inner = hold("b", 2000, 20, 30, 40);
		assertWrong(Kind.OVERLAP, outer, inner);
	}

	@Test
	void overlapBehindAnotherHoldIsFound() {
		RecordedHold outer = hold("a", 1000, 0, 10, 100);
		RecordedHold first = hold("b", 2000, 20, 30, 40);
		RecordedHold second = hold("c", 3000, 50, 60, 70);
		assertThat(violations()).extracting(Violation::kind).containsOnly(Kind.OVERLAP);
		assertThat(violations()).extracting(Violation::second).containsExactlyInAnyOrder(first, second);
		assertThat(violations()).extracting(Violation::first).containsOnly(outer);
	}

	@Test
	void momentOfValidityInsideAnotherHoldIsFound() {
		RecordedHold outer = hold("a", 1000, 0, 10, 100);
		RecordedHold moment = hold("b", 2000, 20, 30, 30);
		assertWrong(Kind.OVERLAP, outer, moment);
	}

	@Test
	void otherKeysDoNotMatter() {
		hold("a", 1000, 0, 10, 30);
		this.holds.add(new RecordedHold("b", 7, "other", 900, ms(0), ms(10), ms(LEASE), ms(30)));
		assertRight();
	}

	@Test
	void equalTokenIsFound() {
		RecordedHold first = hold("a", 1000, 0, 10, 20);
		RecordedHold second = hold("b", 1000, 25, 30, 40);
		assertThat(violations()).contains(new Violation(Kind.TOKEN_USED_TWICE, first, second),
				new Violation(Kind.TOKEN_NOT_GROWING, first, second));
	}

	@Test
	void tokenGoingBackIsFound() {
		RecordedHold first = hold("a", 2000, 0, 10, 20);
		RecordedHold second = hold("b", 1000, 5, 30, 40);
		assertWrong(Kind.TOKEN_NOT_GROWING, first, second);
	}

	@Test
	void tokenGoingBackWithinOneWorkerIsFound() {
		RecordedHold first = hold("a", 1001, 0, 10, 20);
		RecordedHold second = hold("a", 1000, 5, 30, 40);
		assertWrong(Kind.TOKEN_NOT_GROWING, first, second);
	}

	@Test
	void tokenGoingBackLongAfterIsFound() {
		RecordedHold large = hold("a", 5000, 0, 10, 20);
		RecordedHold small = hold("b", 3000, 5, 30, 40);
		RecordedHold middle = hold("c", 4000, 35, 50, 60);
		assertThat(violations()).extracting(Violation::kind).containsOnly(Kind.TOKEN_NOT_GROWING);
		assertThat(violations()).extracting(Violation::second).contains(small, middle);
		assertThat(violations()).extracting(Violation::first).containsOnly(large);
	}

	@Test
	void tokenOfHolderThatWasNeverSureMustGrowTooIfItWasRequestedLater() {
		RecordedHold first = hold("a", 2000, 0, 10, 9);
		RecordedHold second = hold("b", 1000, 15, 20, 30);
		assertWrong(Kind.TOKEN_NOT_GROWING, first, second);
	}

	@Test
	void tokenOutOfRangeIsFound() {
		RecordedHold zero = hold("a", 0, 0, 10, 20);
		assertWrong(Kind.TOKEN_OUT_OF_RANGE, zero, zero);
	}

	@Test
	void shortestCounterExampleComesFirst() {
		hold("a", 1000, 0, 0, 500);
		hold("b", 2000, 0, 400, 900);
		RecordedHold first = hold("a", 3000, 1000, 1000, 1003);
		RecordedHold second = hold("b", 4000, 1000, 1002, 1004);
		hold("c", 5000, 1100, 1100, 1200);
		hold("b", 6000, 1100, 1190, 1300);
		assertThat(violations()).hasSize(3).first().isEqualTo(new Violation(Kind.OVERLAP, first, second));
	}

	// the loss of all data

	@Test
	void overlapAfterLossOfDataIsRight() {
		hold("a", 1000, 0, 10, 300);
		loss(100, 110);
		hold("b", 120_000, 115, 120, 200);
		assertRight();
	}

	@Test
	void overlapBeforeLossOfDataIsFound() {
		RecordedHold first = hold("a", 1000, 0, 10, 300);
		RecordedHold second = hold("b", 2000, 15, 20, 200);
		loss(250, 260);
		assertWrong(Kind.OVERLAP, first, second);
	}

	@Test
	void overlapOfTwoThatBothCameAfterTheLossOfDataIsFound() {
		loss(100, 110);
		RecordedHold first = hold("a", 120_000, 111, 120, 300);
		RecordedHold second = hold("b", 130_000, 125, 130, 200);
		assertWrong(Kind.OVERLAP, first, second);
	}

	@Test
	void holderThatGoesOnForMoreThanALeaseAfterTheLossIsFound() {
		RecordedHold unaware = hold("a", 1000, 0, 10, 110 + LEASE + 1);
		loss(100, 110);
		RecordedHold next = hold("b", 120_000, 115, 120, 200);
		assertWrong(Kind.OVERLAP, unaware, next);
	}

	@Test
	void tokenThatRestartsAfterTheLossOfDataIsFound() {
		RecordedHold before = hold("a", 1000, 0, 10, 300);
		loss(100, 110);
		RecordedHold after = hold("b", 1, 115, 120, 200);
		assertThat(violations()).extracting(Violation::kind).containsOnly(Kind.TOKEN_NOT_GROWING);
		assertThat(violations()).contains(new Violation(Kind.TOKEN_NOT_GROWING, before, after));
	}

	@Test
	void tokenThatRestartsLongAfterTheLossOfDataIsFound() {
		RecordedHold before = hold("a", 1000, 0, 10, 50);
		loss(100, 110);
		RecordedHold after = hold("b", 1, 115, 120, 200);
		assertWrong(Kind.TOKEN_NOT_GROWING, before, after);
	}

	@Test
	void unawareOwnershipThatIsHandedOffBelowItsSuccessorIsRight() {
		acquired("a", 1000, 0, 10, LEASE);
		hold("a", 1000, 0, 10, 130);
		loss(100, 110);
		hold("b", 120_000, 115, 120, 140);
		hold("a", 1001, 125, 135, 300);
		hold("a", 1002, 145, 305, 310);
		acquired("b", 500_000, 315, 319, LEASE);
		hold("b", 500_000, 150, 320, 330);
		assertRight();
	}

	@Test
	void unawareOwnershipWhoseFirstCallerWasNeverAHolderIsRight() {
		acquired("a", 1000, 0, 10, LEASE);
		loss(100, 110);
		hold("b", 120_000, 115, 120, 140);
		hold("a", 1001, 125, 145, 300);
		assertRight();
	}

	@Test
	void unawareOwnershipWithALongerLeaseThanItsHoldIsRight() {
		acquired("a", 1000, 0, 10, 2 * LEASE);
		loss(100, 110);
		hold("b", 120_000, 115, 120, 140);
		hold("a", 1001, 125, 130, 110 + 2 * LEASE);
		assertRight();
	}

	@Test
	void unawareOwnershipThatIsHandedOffAboveItsSuccessorIsFound() {
		acquired("a", 1000, 0, 10, LEASE);
		hold("a", 1000, 0, 10, 130);
		loss(100, 110);
		RecordedHold next = hold("b", 1001, 115, 120, 140);
		RecordedHold passedOn = hold("a", 1002, 125, 135, 300);
		assertThat(violations()).contains(new Violation(Kind.TOKEN_NOT_GROWING, passedOn, next));
	}

	@Test
	void tokenGoingBackIsFoundWhereTheOwnershipBeganAfterTheLoss() {
		loss(100, 110);
		RecordedHold first = hold("b", 120_000, 115, 120, 130);
		acquired("a", 1000, 125, 135, LEASE);
		RecordedHold second = hold("a", 1001, 124, 145, 300);
		assertWrong(Kind.TOKEN_NOT_GROWING, first, second);
	}

	@Test
	void overlapOfOwnershipThatBeganAnewAfterTheLossIsFound() {
		hold("a", 1000, 0, 10, 105);
		loss(100, 110);
		RecordedHold next = hold("b", 120_000, 115, 120, 140);
		RecordedHold anew = hold("a", 130_000, 125, 135, 300);
		assertWrong(Kind.OVERLAP, next, anew);
	}

	// reading

	@Test
	void claimsAreReadAsTheyWereWritten() {
		RecordedEvents events = new RecordedEvents();
		events.add("a", """
				A k 1000 1 2 400
				B 1 k 1000 1 2 400 402
				C busy
				V 1 500
				B 2 k 2000 3 4 400 404
				L 1 900
				R 1 450
				V 1 480
				E 1 470
				V 1 600
				X 1 released
				F odd
				V 2 77""");
		assertThat(events.holds()).containsExactly(new RecordedHold("a", 1, "k", 1000, 1, 2, 900, 470),
				new RecordedHold("a", 2, "k", 2000, 3, 4, 400, 404));
		assertThat(events.acquisitions()).containsExactly(new Acquisition("a", "k", 1000, 1, 2, 400));
		assertThat(events.counts()).containsEntry("busy", 1).containsEntry("released", 1).hasSize(2);
		assertThat(events.faults()).containsExactly("a: odd");
	}

	private List<Violation> violations() {
		return HistoryChecker.check(this.holds, this.acquisitions, this.losses);
	}

	private void assertRight() {
		assertThat(violations()).isEmpty();
	}

	private void assertWrong(Kind kind, RecordedHold first, RecordedHold second) {
		assertThat(violations()).containsExactly(new Violation(kind, first, second));
	}

	private RecordedHold hold(String worker, long token, long asked, long granted, long until) {
		RecordedHold hold = new RecordedHold(worker, this.holds.size(), "k", token, ms(asked), ms(granted), ms(LEASE),
				ms(until));
		this.holds.add(hold);
		return hold;
	}

	private void acquired(String worker, long token, long asked, long acquired, long lease) {
		this.acquisitions.add(new Acquisition(worker, "k", token, ms(asked), ms(acquired), ms(lease)));
	}

	private void loss(long from, long to) {
		this.losses.add(new DataLoss(ms(from), ms(to)));
	}

	private static long ms(long time) {
		return time * 1_000_000;
	}

}
