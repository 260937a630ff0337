package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.queue.Entry;
import io.github.lockspring.internal.queue.EntryServer.Added;
import io.github.lockspring.internal.queue.EntryServer.Renewal;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The holes of the protocol, E1 to E18: what requests do that are carried out late or
 * have no answer, on a real server.
 */
@RequiresEtcd
class EtcdProtocolTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	private static final Duration PATIENT = Duration.ofSeconds(30);

	private static final OwnerToken FIRST = new OwnerToken("etcd-protocol-tests-01", 1, 5000);

	private static final OwnerToken SECOND = new OwnerToken("etcd-protocol-tests-01", 2, 5000);

	private static final OwnerToken OTHER = new OwnerToken("etcd-protocol-tests-02", 1, 5000);

	private final String key = "protocol-" + UUID.randomUUID();

	private final Faults faults = new Faults();

	private final AtomicLong suspended = new AtomicLong();

	private final Client client = Clients.builder(EtcdProcess.shared().address()).interceptor(this.faults).build();

	private final Client other = Clients.of(EtcdProcess.shared().address());

	private final EtcdEntryServer server = new EtcdEntryServer(
			new EtcdMembers(List.of(new EtcdConnection(this.client, TIMEOUT)), 0),
			new EtcdStoreSettings("lock:", TIMEOUT, PATIENT, 0), this::now);

	/** Takes longer than a request on a machine that is busy. */
	@BeforeEach
	void connect() {
		await().atMost(PATIENT).ignoreExceptions().until(() -> get(this.server.ping()) == null);
	}

	@AfterEach
	void close() {
		this.faults.changeAnswers(null);
		this.faults.release();
		this.server.close();
		this.client.close();
		this.other.close();
	}

	// removals

	@Test
	@Tag("late-requests-etcd")
	void e1LateRemovalDoesNotRemoveTheNextEntry() throws Exception {
		Added first = add(FIRST);
		this.faults.holdRequest(Faults.REMOVAL);
		fails(this.server.remove(first.entry()));
		assertThat(get(this.server.remove(first.entry()))).isTrue();
		Added second = add(SECOND);
		this.faults.release();
		await().during(Duration.ofMillis(500)).until(() -> isThere(second.entry()));
	}

	@Test
	void e2RemovalWithoutAnswerIsRepeatedAndIsNoLoss() throws Exception {
		Added first = add(FIRST);
		this.faults.holdAnswer(Faults.REMOVAL);
		fails(this.server.remove(first.entry()));
		assertThat(first.entry().isOver()).isFalse();
		assertThat(get(this.server.remove(first.entry()))).isFalse();
		assertThat(first.entry().isOver()).isTrue();
	}

	// additions

	@Test
	@Tag("late-requests-etcd")
	void e3AdditionIsNotCarriedOutAfterItWasSettled() throws Exception {
		this.faults.holdRequest(Faults.ADDITION);
		fails(this.server.add(this.key, FIRST, 5000, false));
		assertThat(get(this.server.settle(this.key, FIRST))).isNull();
		this.faults.release();
		await().during(Duration.ofMillis(500)).until(() -> entries().isEmpty());
		assertThat(add(SECOND).position().before()).isNull();
	}

	@Test
	@Tag("late-requests-etcd")
	void e3AdditionIsNotCarriedOutAfterTheRemovalOfItsRepetition() throws Exception {
		this.faults.holdRequest(Faults.ADDITION);
		fails(this.server.add(this.key, FIRST, 5000, false));
		Added again = get(this.server.add(this.key, FIRST, 5000, true));
		assertThat(get(this.server.remove(again.entry()))).isTrue();
		this.faults.release();
		await().during(Duration.ofMillis(500)).until(() -> entries().isEmpty());
	}

	/** The attempts of a token may differ in their ttl. */
	@Test
	@Tag("late-requests-etcd")
	void e3AdditionsOnSeveralLeasesAreNotCarriedOutAfterTheRemoval() throws Exception {
		for (long millis : List.of(5000L, 10_000L)) {
			this.faults.holdRequest(Faults.ADDITION);
			fails(this.server.add(this.key, FIRST, millis, true));
		}
		Added again = get(this.server.add(this.key, FIRST, 5000, true));
		assertThat(get(this.server.remove(again.entry()))).isTrue();
		this.faults.release();
		await().during(Duration.ofMillis(500)).until(() -> entries().isEmpty());
	}

	@Test
	@Tag("lost-reply")
	void e4SettlingFindsWhatWasAddedBefore() throws Exception {
		this.faults.holdAnswer(Faults.ADDITION);
		fails(this.server.add(this.key, FIRST, 5000, false));
		Entry.Own found = get(this.server.settle(this.key, FIRST));
		assertThat(found.token()).isEqualTo(FIRST.toString());
		assertThat(get(this.server.remove(found))).isTrue();
		assertThat(entries()).isEmpty();
	}

	@Test
	void e4RemovalAlsoRemovesWhatALateAdditionHasAdded() throws Exception {
		Entry.Own removed = removedBeforeALateAddition();
		assertThat(get(this.server.remove(removed))).isFalse();
		assertThat(entries()).isEmpty();
	}

	/** Whose first removal had no answer. */
	@Test
	@Tag("late-requests-etcd")
	void e4RemovalIsRepeatedUntilWhatALateAdditionHasAddedIsGoneToo() throws Exception {
		Entry.Own removed = removedBeforeALateAddition();
		this.faults.holdRequest(Faults.REMOVAL.and(Faults.about(entries().get(0).getCreateRevision())));
		fails(this.server.remove(removed));
		assertThat(get(this.server.remove(removed))).isFalse();
		assertThat(entries()).isEmpty();
	}

	/** Adds an entry that is removed by hand, before an earlier addition comes late. */
	private Entry.Own removedBeforeALateAddition() throws Exception {
		this.faults.holdRequest(Faults.ADDITION);
		fails(this.server.add(this.key, FIRST, 5000, false));
		Added again = get(this.server.add(this.key, FIRST, 5000, true));
		// by hand
		this.other.getKVClient().delete(((EtcdEntry.Mine) again.entry()).name()).get();
		this.faults.release();
		await().atMost(PATIENT).until(() -> entries().size() == 1);
		return again.entry();
	}

	@Test
	void e5NothingRepeatsAnAdditionUnseen() throws Exception {
		add(OTHER);
		this.faults.breakAfter(Faults.ADDITION);
		fails(this.server.add(this.key, FIRST, 5000, false));
		assertThat(this.faults.sent(Faults.ADDITION)).isEqualTo(2);
	}

	@Test
	@Tag("lost-reply")
	void additionWithoutAnswerIsAdoptedWhenItIsRepeated() throws Exception {
		this.faults.holdAnswer(Faults.ADDITION);
		fails(this.server.add(this.key, FIRST, 5000, false));
		KeyValue before = entries().get(0);
		Added again = get(this.server.add(this.key, FIRST, 5000, true));
		assertThat(again.entry().order()).isEqualTo(before.getCreateRevision());
		assertThat(again.position().before()).isNull();
	}

	/** It is not carried out later, and nobody settles it. */
	@Test
	void additionThatIsRefusedForGoodDoesNotKeepItsLeaseInUse() throws Exception {
		EtcdLease lease = ((EtcdEntry.Mine) add(OTHER).entry()).leases().iterator().next();
		this.faults.refuse(Faults.ADDITION);
		assertThat(this.server.add(this.key, FIRST, 5000, false)).failsWithin(PATIENT)
			.withThrowableOfType(ExecutionException.class)
			.havingCause()
			.isInstanceOfSatisfying(LockUnavailableException.class, (ex) -> assertThat(ex.isPermanent()).isTrue());
		ByteSequence name = new EtcdKeys("lock:", 0).name(this.key, FIRST);
		assertThat(lease.isUsedBy(new EtcdLease.Unanswered(name, FIRST.toString()))).isFalse();
		assertThat(entries()).hasSize(1);
	}

	/** The tokens of an instance have one name in a queue. */
	@Test
	void entryOfAnEarlierTokenIsRemovedFirst() throws Exception {
		Added left = add(FIRST);
		Added next = add(SECOND);
		assertThat(next.position().before()).isNull();
		assertThat(next.entry().order()).isGreaterThan(left.entry().order());
		assertThat(entries()).hasSize(1);
	}

	// leases

	@Test
	void e6LeaseIsSharedAndItsAgeCounts() throws Exception {
		Added first = add(FIRST);
		this.suspended.addAndGet(TimeUnit.SECONDS.toNanos(2));
		Added second = add(OTHER);
		assertThat(second.entry().validUntil()).isEqualTo(first.entry().validUntil());
		assertThat(second.entry().validUntil() - now()).isLessThan(TimeUnit.SECONDS.toNanos(3));
		assertThat(entries()).extracting(KeyValue::getLease).containsOnly(lease(first.entry()));
	}

	@Test
	void e6LeaseWithLessThanHalfOfItsTimeIsRenewedFirst() throws Exception {
		Added first = add(FIRST);
		this.suspended.addAndGet(TimeUnit.SECONDS.toNanos(3));
		add(OTHER);
		assertThat(first.entry().validUntil() - now()).isGreaterThan(TimeUnit.SECONDS.toNanos(4));
	}

	/** Also number 1: the machine was suspended while the answer was on its way. */
	@Test
	void e7SuspensionCountsAsTimeOfTheLease() throws Exception {
		this.faults.holdAnswer(Faults.ADDITION);
		CompletionStage<Added> adding = this.server.add(this.key, FIRST, 5000, false);
		await().atMost(PATIENT).until(() -> this.faults.held() == 2);
		this.suspended.addAndGet(TimeUnit.SECONDS.toNanos(60));
		this.faults.release();
		assertThat(get(adding).entry().validUntil() - now()).isNegative();
	}

	@Test
	void e8RenewalOfALeaderThatWasReplacedProvesNothing() throws Exception {
		Added first = add(FIRST);
		long before = first.entry().validUntil();
		this.faults.changeAnswers((answer) -> (answer instanceof LeaseKeepAliveResponse renewed) ? renewed.toBuilder()
			.setHeader(renewed.getHeader().toBuilder().setRaftTerm(renewed.getHeader().getRaftTerm() - 1))
			.build() : answer);
		assertThat(renew(first.entry(), 5000)).isEqualTo(RenewResult.UNKNOWN);
		assertThat(first.entry().validUntil()).isEqualTo(before);
		this.faults.changeAnswers(null);
		assertThat(renew(first.entry(), 5000)).isEqualTo(RenewResult.RENEWED);
	}

	/** As servers have answered before etcd issue 20590 was mended. */
	@Test
	void e9LeaseThatIsSaidToBeRenewedWithoutItsGuardIsLost() throws Exception {
		Added before = add(OTHER);
		this.faults.holdAnswer(Faults.ADDITION);
		CompletionStage<Added> adding = this.server.add(this.key, FIRST, 5000, false);
		await().atMost(PATIENT).until(() -> this.faults.held() == 2);
		revoke(lease(before.entry()));
		this.faults.changeAnswers((answer) -> (answer instanceof LeaseKeepAliveResponse renewed)
				? renewed.toBuilder().setTTL(5).build() : answer);
		renew(before.entry(), 5000);
		this.faults.release();
		Added added = get(adding);
		assertThat(lease(added.entry())).isNotEqualTo(lease(before.entry()));
		assertThat(isThere(added.entry())).isTrue();
	}

	@Test
	void e10EntryHasTheLeaseThatItsRequestNamed() throws Exception {
		Added before = add(OTHER);
		this.faults.holdAnswer(Faults.ADDITION);
		CompletionStage<Added> adding = this.server.add(this.key, FIRST, 5000, false);
		await().atMost(PATIENT).until(() -> this.faults.held() == 2);
		KeyValue late = entries().get(1);
		falselyLose(before.entry());
		this.faults.release();
		Added added = get(adding);
		assertThat(added.entry().isOver()).isFalse();
		assertThat(added.entry().order()).isGreaterThan(late.getCreateRevision());
		assertThat(entries()).filteredOn((entry) -> entry.getKey().equals(late.getKey()))
			.singleElement()
			.satisfies((entry) -> assertThat(entry.getLease()).isEqualTo(lease(added.entry())));
	}

	@Test
	void e11EntryOnALeaseThatWasGivenUpIsNotAdopted() throws Exception {
		Added before = add(OTHER);
		this.faults.holdAnswer(Faults.ADDITION);
		fails(this.server.add(this.key, FIRST, 5000, false));
		KeyValue old = entries().get(1);
		falselyLose(before.entry());
		Added again = get(this.server.add(this.key, FIRST, 5000, true));
		assertThat(again.entry().order()).isGreaterThan(old.getCreateRevision());
		assertThat(lease(again.entry())).isNotEqualTo(old.getLease());
	}

	/**
	 * The attempts of a token may differ in their ttl: the first one's answer was lost,
	 * the second one names another lease, and the third one that of the first.
	 */
	@Test
	@Tag("late-requests-etcd")
	void e11EntryIsNotAdoptedAfterItsRemovalWasSent() throws Exception {
		this.faults.holdAnswer(Faults.ADDITION);
		fails(this.server.add(this.key, FIRST, 10_000, false));
		this.faults.holdRequest(Faults.REMOVAL);
		CompletionStage<Added> shorter = this.server.add(this.key, FIRST, 5000, true);
		await().atMost(PATIENT).until(() -> shorter.toCompletableFuture().isDone());
		Added longer = get(this.server.add(this.key, FIRST, 10_000, true));
		this.faults.release();
		await().during(Duration.ofMillis(500)).until(() -> isThere(longer.entry()));
	}

	@Test
	void e12RenewalCountsForTheEntryThatItWasFor() throws Exception {
		Added first = add(FIRST);
		this.faults.holdRequest(Faults.READ);
		CompletionStage<Set<Entry.Own>> renewing = this.server.renew(List.of(new Renewal(first.entry(), 5000)));
		await().atMost(PATIENT).until(() -> this.faults.held() == 1);
		// by hand
		this.other.getKVClient().delete(((EtcdEntry.Mine) first.entry()).name()).get();
		Added second = add(SECOND);
		this.faults.release();
		assertThat(get(renewing)).isEmpty();
		assertThat(renew(second.entry(), 5000)).isEqualTo(RenewResult.RENEWED);
	}

	@Test
	void e13EntryThatWasTakenAwayIsFoundToBeGone() throws Exception {
		Added first = add(FIRST);
		this.other.getKVClient().delete(((EtcdEntry.Mine) first.entry()).name()).get();
		assertThat(get(this.server.remove(first.entry()))).isFalse();
	}

	@Test
	void e16EntryThatWasCreatedAgainIsNotWaitedFor() throws Exception {
		Added first = add(FIRST);
		Added waiter = add(OTHER);
		get(this.server.remove(first.entry()));
		add(SECOND);
		assertThat(get(this.server.watch(waiter.position().before(), waiter.entry(), () -> {
		}))).isFalse();
		assertThat(get(this.server.position(waiter.entry())).orElseThrow().before()).isNull();
	}

	@Test
	@Tag("remains-etcd")
	void e17LeaseIsRevokedWithTheStoreOnly() throws Exception {
		Added first = get(this.server.add(this.key, FIRST, 60_000, false));
		long lease = lease(first.entry());
		get(this.server.remove(first.entry()));
		assertThat(secondsLeft(lease)).isPositive();
		this.server.close();
		await().atMost(Duration.ofSeconds(4)).until(() -> secondsLeft(lease) < 0);
	}

	@Test
	void leaseWithAnEntryIsNotRevokedWithTheStore() throws Exception {
		Added first = add(FIRST);
		this.server.close();
		assertThat(secondsLeft(lease(first.entry()))).isPositive();
		assertThat(entries()).hasSize(1);
	}

	@Test
	void leaseIsKeptAliveWhileItIsUsed() throws Exception {
		Added first = get(this.server.add(this.key, FIRST, 2000, false));
		await().pollDelay(Duration.ofSeconds(5)).atMost(PATIENT).until(() -> isThere(first.entry()));
		assertThat(first.entry().validUntil() - now()).isPositive();
	}

	@Test
	@Tag("session-etcd")
	void guardThatIsGoneEndsAllThatIsOnItsLease() throws Exception {
		Added first = add(FIRST);
		String guards = "lock::lease/";
		for (KeyValue guard : this.other.getKVClient()
			.get(Clients.bytes(guards), GetOption.builder().isPrefix(true).build())
			.get()
			.getKvs()) {
			this.other.getKVClient().delete(guard.getKey()).get();
		}
		assertThat(renew(first.entry(), 5000)).isEqualTo(RenewResult.NOT_OWNER);
		assertThat(first.entry().isOver()).isTrue();
		Added second = add(FIRST);
		assertThat(lease(second.entry())).isNotEqualTo(lease(first.entry()));
		assertThat(entries()).hasSize(1);
	}

	@Test
	void guardThatWasPutMeanwhileLetsAnAdditionBeRepeated() throws Exception {
		add(OTHER);
		this.faults.holdRequest(Faults.ADDITION);
		CompletionStage<Added> adding = this.server.add(this.key, SECOND, 5000, false);
		this.faults.holdRequest(Faults.ADDITION);
		String second = this.key + "-second";
		fails(this.server.add(second, FIRST, 5000, false));
		assertThat(get(this.server.settle(second, FIRST))).isNull();
		this.faults.release();
		fails(adding);
		Added again = get(this.server.add(this.key, SECOND, 5000, true));
		assertThat(again.entry().isOver()).isFalse();
		get(this.server.remove(again.entry()));
	}

	// moves to other leases

	/** Number 22: a waiter that dies costs the others no more. */
	@Test
	@Tag("short-lease-etcd")
	void e18NewEntriesAreOnAShortLeaseAndTheFirstRenewalRaisesIt() throws Exception {
		Added first = get(this.server.add(this.key, FIRST, 60_000, false));
		assertThat(secondsLeft(entries().get(0).getLease())).isBetween(1L, 10L);
		assertThat(renew(first.entry(), 60_000)).isEqualTo(RenewResult.RENEWED);
		assertThat(secondsLeft(entries().get(0).getLease())).isBetween(11L, 60L);
		assertThat(first.entry().validUntil() - now()).isGreaterThan(TimeUnit.SECONDS.toNanos(50));
		assertThat(first.entry().order()).isEqualTo(entries().get(0).getCreateRevision());
		// and again
		assertThat(renew(first.entry(), 100_000)).isEqualTo(RenewResult.RENEWED);
		assertThat(secondsLeft(entries().get(0).getLease())).isBetween(61L, 120L);
	}

	@Test
	void e18UntilARaiseIsAnsweredTheEarlierProofCounts() throws Exception {
		Added first = get(this.server.add(this.key, FIRST, 60_000, false));
		this.faults.holdRequest(Faults.RAISE);
		assertThat(renew(first.entry(), 60_000)).isEqualTo(RenewResult.UNKNOWN);
		assertThat(first.entry().validUntil() - now()).isBetween(0L, TimeUnit.SECONDS.toNanos(10));
		this.faults.release();
		await().atMost(PATIENT).ignoreExceptions().until(() -> renew(first.entry(), 60_000) == RenewResult.RENEWED);
		assertThat(first.entry().validUntil() - now()).isGreaterThan(TimeUnit.SECONDS.toNanos(50));
	}

	@Test
	void e18RaiseThatWasCarriedOutWithoutAnswerIsFound() throws Exception {
		Added first = get(this.server.add(this.key, FIRST, 60_000, false));
		this.faults.holdAnswer(Faults.RAISE);
		this.faults.holdRequest(Faults.READ);
		fails(this.server.renew(List.of(new Renewal(first.entry(), 60_000))));
		assertThat(renew(first.entry(), 60_000)).isEqualTo(RenewResult.RENEWED);
		assertThat(first.entry().isOver()).isFalse();
	}

	/** Also number 3: an entry does not get back to an earlier lease. */
	@Test
	@Tag("late-requests-etcd")
	void e18LateRaiseDoesNotUndoAKeep() throws Exception {
		Added first = get(this.server.add(this.key, FIRST, 60_000, false));
		this.faults.holdRequest(Faults.RAISE);
		renew(first.entry(), 60_000);
		assertThat(get(this.server.keep(first.entry(), 20_000))).isTrue();
		long kept = entries().get(0).getLease();
		this.faults.release();
		await().during(Duration.ofMillis(500)).until(() -> entries().get(0).getLease() == kept);
		assertThat(get(this.server.read(first.entry())).orElseThrow().kept()).isTrue();
	}

	/** Both were carried out; a raise that is noted ends all other moves of its entry. */
	@Test
	void e18RaiseThatIsAnsweredDuringAKeepDoesNotMakeItLookLost() throws Exception {
		Added first = get(this.server.add(this.key, FIRST, 60_000, false));
		this.faults.holdAnswer(Faults.RAISE);
		this.server.renew(List.of(new Renewal(first.entry(), 60_000)));
		// a message and the end of its call
		await().atMost(PATIENT).until(() -> this.faults.held() == 2);
		this.faults.holdAnswer(Faults.KEEP);
		CompletionStage<Boolean> kept = this.server.keep(first.entry(), 20_000);
		await().atMost(PATIENT).until(() -> this.faults.held() == 4);
		this.faults.release();
		assertThat(get(kept)).isTrue();
	}

	/** The renewal has begun when the hold ends. */
	@Test
	void e18RaiseIsNotBegunAfterAKeep() throws Exception {
		Added first = get(this.server.add(this.key, FIRST, 60_000, false));
		assertThat(get(this.server.keep(first.entry(), 20_000))).isTrue();
		long kept = entries().get(0).getLease();
		renew(first.entry(), 60_000);
		assertThat(entries().get(0).getLease()).isEqualTo(kept);
		assertThat(get(this.server.read(first.entry())).orElseThrow().kept()).isTrue();
	}

	@Test
	void e18RaiseGoesToAProvenLeaseOnly() throws Exception {
		renew(get(this.server.add(this.key, OTHER, 60_000, false)).entry(), 60_000);
		this.suspended.addAndGet(TimeUnit.SECONDS.toNanos(57));
		Added first = get(this.server.add(this.key, FIRST, 60_000, false));
		this.faults.changeAnswers((answer) -> (answer instanceof LeaseKeepAliveResponse renewed) ? renewed.toBuilder()
			.setHeader(renewed.getHeader().toBuilder().setRaftTerm(renewed.getHeader().getRaftTerm() - 1))
			.build() : answer);
		assertThat(renew(first.entry(), 60_000)).isEqualTo(RenewResult.UNKNOWN);
		assertThat(first.entry().validUntil() - now()).isGreaterThan(TimeUnit.SECONDS.toNanos(5));
		this.faults.changeAnswers(null);
		assertThat(renew(first.entry(), 60_000)).isEqualTo(RenewResult.RENEWED);
	}

	@Test
	void e18KeptEntryEndsByItself() throws Exception {
		Added first = add(FIRST);
		assertThat(get(this.server.keep(first.entry(), 2_000))).isTrue();
		await().atMost(PATIENT).until(() -> entries().isEmpty());
	}

	@Test
	void storeThatIsClosedAfterAnUnansweredKeepRevokesNothing() throws Exception {
		Added first = add(FIRST);
		this.faults.holdRequest(Faults.KEEP);
		fails(this.server.keep(first.entry(), 20_000));
		this.server.close();
		assertThat(entries()).hasSize(1);
	}

	// fixtures

	private long now() {
		return System.nanoTime() + this.suspended.get();
	}

	private static <T> T get(CompletionStage<T> stage) throws Exception {
		return stage.toCompletableFuture().get(PATIENT.toSeconds(), TimeUnit.SECONDS);
	}

	private static void fails(CompletionStage<?> stage) {
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> get(stage))
			.withCauseInstanceOf(LockUnavailableException.class);
	}

	private Added add(OwnerToken token) throws Exception {
		return get(this.server.add(this.key, token, 5000, false));
	}

	private RenewResult renew(Entry.Own entry, long millis) throws Exception {
		long until = now() + TimeUnit.MILLISECONDS.toNanos(millis);
		if (!get(this.server.renew(List.of(new Renewal(entry, millis)))).contains(entry)) {
			return RenewResult.NOT_OWNER;
		}
		return (entry.validUntil() - until >= 0) ? RenewResult.RENEWED : RenewResult.UNKNOWN;
	}

	private static long lease(Entry.Own entry) {
		return ((EtcdEntry.Mine) entry).leases().iterator().next().id();
	}

	/** A leader that was replaced does not know the lease. */
	private void falselyLose(Entry.Own entry) throws Exception {
		this.faults.changeAnswers((answer) -> (answer instanceof LeaseKeepAliveResponse renewed)
				? renewed.toBuilder().setTTL(0).build() : answer);
		assertThat(renew(entry, 5000)).isEqualTo(RenewResult.NOT_OWNER);
		this.faults.changeAnswers(null);
	}

	private void revoke(long lease) throws Exception {
		this.other.getLeaseClient().revoke(lease).get();
	}

	private long secondsLeft(long lease) throws Exception {
		return this.other.getLeaseClient().timeToLive(lease, LeaseOption.DEFAULT).get().getTTL();
	}

	private List<KeyValue> entries() throws Exception {
		return this.other.getKVClient()
			.get(Clients.bytes("lock:" + this.key + "/"),
					GetOption.builder()
						.isPrefix(true)
						.withSortField(GetOption.SortTarget.CREATE)
						.withSortOrder(GetOption.SortOrder.ASCEND)
						.build())
			.get()
			.getKvs();
	}

	private boolean isThere(Entry.Own entry) throws Exception {
		return get(this.server.read(entry)).isPresent();
	}

}
