package io.github.lockspring.etcd;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.lock.LockResponse;
import io.github.lockspring.internal.queue.Entry;
import io.github.lockspring.internal.queue.EntryServer.Added;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * The names of keys, their watches, and what is known of servers.
 */
@RequiresEtcd
class EtcdEntryServerTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final String INSTANCE = "etcd-server-tests-0001";

	private static final String OTHER = "etcd-server-tests-0002";

	private final String key = "names-" + UUID.randomUUID();

	private final Client client = Clients.of(EtcdProcess.shared().address());

	private final EtcdEntryServer server = server(this.client, TIMEOUT, 0);

	private static EtcdEntryServer server(Client client, Duration connectTimeout, long floor) {
		return new EtcdEntryServer(new EtcdMembers(List.of(new EtcdConnection(client, TIMEOUT)), 0),
				new EtcdStoreSettings("lock:", TIMEOUT, connectTimeout, floor), System::nanoTime);
	}

	@AfterEach
	void close() {
		this.server.close();
		this.client.close();
	}

	private static <T> T get(CompletionStage<T> stage) throws Exception {
		return stage.toCompletableFuture().get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
	}

	private static OwnerToken token(String instance, int sequence) {
		return new OwnerToken(instance, sequence, 5000);
	}

	private Added add(OwnerToken token) throws Exception {
		return get(this.server.add(this.key, token, 60_000, false));
	}

	private static ByteSequence name(Added added) {
		return ((EtcdEntry.Mine) added.entry()).name();
	}

	private List<String> tokens() throws Exception {
		return get(this.server.list(this.key)).stream().map(Entry::token).toList();
	}

	@Test
	void serverThatDoesNotAnswerIsAwaitedNoLongerThanTheConnectTimeout() {
		try (EtcdProcess paused = EtcdProcess.alone(); Client client = Clients.of(paused.address())) {
			paused.pause();
			EtcdEntryServer silent = server(client, Duration.ofMillis(300), 0);
			CompletionStage<?> connected = silent.connected();
			assertThat(connected).isNotDone();
			assertThat(connected).succeedsWithin(TIMEOUT);
			assertThat(silent.connected()).isDone();
			paused.resume();
		}
	}

	/** Number 40: a first lock does not pay for the first lease too. */
	@Test
	void firstConnectionBeginsTheLeaseOfTheFirstLock() throws Exception {
		try (EtcdProcess own = EtcdProcess.alone(); Client client = Clients.of(own.address())) {
			EtcdEntryServer fresh = server(client, TIMEOUT, 0);
			get(fresh.connected());
			// the guard of the lease, then also the entry
			assertThat(keys(client)).isOne();
			get(fresh.add(this.key, token(INSTANCE, 1), 60_000, false));
			assertThat(keys(client)).isEqualTo(2);
			fresh.close();
		}
	}

	private static long keys(Client client) throws Exception {
		return get(client.getKVClient().get(EtcdKeys.bytes("lock"), GetOption.builder().isPrefix(true).build()))
			.getCount();
	}

	/** Servers keep names that were used once until they are compacted. */
	@Test
	void keysOfAnInstanceHaveTheSameNameOneAfterTheOther() throws Exception {
		Added first = add(token(INSTANCE, 1));
		assertThat(get(this.server.remove(first.entry()))).isTrue();
		Added second = add(token(INSTANCE, 1));
		assertThat(name(second)).isEqualTo(name(first));
		assertThat(second.entry().order()).isGreaterThan(first.entry().order());
		assertThat(tokens()).containsExactly(token(INSTANCE, 1).toString());
		// what is late changes nothing, though the token is the same
		assertThat(get(this.server.remove(first.entry()))).isFalse();
		assertThat(get(this.server.remove(second.entry()))).isTrue();
	}

	@Test
	void positionNamesTheEntryBeforeAndTheOwner() throws Exception {
		Added owner = add(token(INSTANCE, 1));
		Added second = get(this.server.add(this.key, token(OTHER, 1), 7_000, false));
		Added third = add(token("etcd-server-tests-0003", 1));
		assertThat(owner.position().before()).isNull();
		assertThat(second.position().before().id()).isEqualTo(owner.entry().id());
		assertThat(third.position().before().id()).isEqualTo(second.entry().id());
		assertThat(third.position().first().order()).isEqualTo(owner.entry().order());
		assertThat(third.position().first().millis()).isEqualTo(60_000);
		assertThat(get(this.server.position(third.entry())))
			.hasValueSatisfying((position) -> assertThat(position.before().id()).isEqualTo(second.entry().id()));
		get(this.server.remove(owner.entry()));
		assertThat(get(this.server.position(second.entry())))
			.hasValueSatisfying((position) -> assertThat(position.before()).isNull());
		assertThat(get(this.server.first(this.key)).orElseThrow().millis()).isEqualTo(7_000);
		assertThat(get(this.server.position(owner.entry()))).isEmpty();
	}

	/** Many short waits behind a long hold would gather them. Number 35. */
	@Test
	void watchEndsWithTheEntryThatWaits() throws Exception {
		Added owner = add(token(INSTANCE, 1));
		long before = watchers();
		for (int i = 1; i <= 5; i++) {
			Added waiter = add(token(OTHER, i));
			assertThat(get(this.server.watch(owner.entry(), waiter.entry(), () -> {
			}))).isTrue();
			assertThat(watchers()).isGreaterThan(before);
			get(this.server.remove(waiter.entry()));
			// the watch may begin when its waiter is gone already
			assertThat(get(this.server.watch(owner.entry(), waiter.entry(), () -> {
			}))).isTrue();
			await().atMost(TIMEOUT).until(this::watchers, (present) -> present == before);
		}
		get(this.server.remove(owner.entry()));
	}

	@Test
	void watchTellsThatTheEntryIsGone() throws Exception {
		Added owner = add(token(INSTANCE, 1));
		Added waiter = add(token(OTHER, 1));
		CountDownLatch gone = new CountDownLatch(1);
		assertThat(get(this.server.watch(waiter.position().before(), waiter.entry(), gone::countDown))).isTrue();
		get(this.server.remove(owner.entry()));
		assertThat(gone.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
	}

	private long watchers() throws Exception {
		HttpRequest request = HttpRequest.newBuilder(URI.create(EtcdProcess.shared().address() + "/metrics")).build();
		return HttpClient.newHttpClient()
			.send(request, BodyHandlers.ofLines())
			.body()
			.filter((line) -> line.startsWith("etcd_debugging_mvcc_watcher_total "))
			.mapToLong((line) -> (long) Double.parseDouble(line.substring(line.indexOf(' ') + 1)))
			.sum();
	}

	/** Number 8: revisions begin again after a restore. */
	@Test
	@Tag("restore-etcd")
	void floorIsAddedToTheTokensOfOwnEntriesAndOfOthers() throws Exception {
		EtcdEntryServer raised = server(this.client, TIMEOUT, 1_000_000_000);
		Added added = get(raised.add(this.key, token(INSTANCE, 1), 5_000, false));
		assertThat(added.entry().order()).isGreaterThan(1_000_000_000);
		assertThat(added.position().first().order()).isEqualTo(added.entry().order());
		assertThat(get(raised.first(this.key)).orElseThrow().order()).isEqualTo(added.entry().order());
		assertThat(get(raised.remove(added.entry()))).isTrue();
		assertThatIllegalArgumentException().isThrownBy(() -> EtcdLockStore.builder(this.client).tokenFloor(-1).build())
			.withMessageContaining("tokenFloor");
	}

	/** Number 32. etcdctl asks the servers for the same. */
	@Test
	@Tag("formats")
	void locksOfEtcdItselfAndOfThisStoreExcludeEachOther() throws Exception {
		ByteSequence name = Clients.bytes("lock:" + this.key);
		long lease = this.client.getLeaseClient().grant(30).get().getID();
		ByteSequence foreign = this.client.getLockClient().lock(name, lease).get().getKey();
		Added waiter = add(token(INSTANCE, 1));
		assertThat(waiter.position().before()).isNotNull();
		// not one that never ends
		assertThat(waiter.position().first().millis()).isPositive();
		CompletableFuture<LockResponse> next = this.client.getLockClient()
			.lock(name, this.client.getLeaseClient().grant(30).get().getID());
		this.client.getLockClient().unlock(foreign).get();
		assertThat(get(this.server.position(waiter.entry())).orElseThrow().before()).isNull();
		assertThat(next).isNotDone();
		get(this.server.remove(waiter.entry()));
		this.client.getLockClient().unlock(get(next).getKey()).get();
	}

	/** Number 4. The package that tests usually run on is older. */
	@Test
	@Tag("versions-etcd")
	void serverWithAKnownDefectIsWarnedOf() throws Exception {
		String version = get(
				this.client.getMaintenanceClient().statusMember("ip:///127.0.0.1:" + EtcdProcess.shared().port()))
			.getVersion();
		List<String> warnings = get(this.server.versions().warnings());
		if (EtcdVersions.isTooOld(version)) {
			assertThat(warnings).singleElement().asString().contains(version, "3.4.31", "3.5.13");
		}
		else {
			assertThat(warnings).isEmpty();
		}
		try (EtcdLockStore store = Clients.store()) {
			assertThat(store.health(TIMEOUT).orElseThrow().servers().get(0).warnings()).isEqualTo(warnings);
		}
	}

	@ParameterizedTest
	@CsvSource({ "3.4.23, true", "3.4.30, true", "3.4.31, false", "3.5.12, true", "3.5.13, false", "3.6.0, false",
			"3.3.27, true", "2.3.8, true", "4.0.0, false", "3.5.12-rc.1, true", "unknown, false", "'', false" })
	void versionsWithTheDefectAreThoseBefore(String version, boolean tooOld) {
		assertThat(EtcdVersions.isTooOld(version)).isEqualTo(tooOld);
	}

	@ParameterizedTest
	@CsvSource({ "1, 2", "2000, 2", "2001, 3", "4000, 5", "10000, 10", "12000, 15", "30000, 30", "31000, 60",
			"600000, 600", "600001, 1200", "3600000, 4800" })
	void leasesHaveFewLengths(long millis, long seconds) {
		assertThat(EtcdLease.seconds(millis)).isEqualTo(seconds);
	}

}
