package io.github.lockspring.etcd;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.github.lockspring.internal.queue.Entry;
import io.github.lockspring.internal.queue.EntryServer.Added;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The names of keys, on a real server.
 */
@RequiresEtcd
class EtcdServerTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final String INSTANCE = "etcd-server-tests-0001";

	private static final String OTHER = "etcd-server-tests-0002";

	private final String key = "names-" + UUID.randomUUID();

	private final Client client = Clients.of(EtcdProcess.shared().address());

	private final EtcdServer server = new EtcdServer(new EtcdConnection(this.client, TIMEOUT),
			new EtcdStoreSettings("lock:", TIMEOUT, TIMEOUT));

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
		return get(this.server.add(this.key, token, false, 60_000, "60000"));
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
			EtcdServer silent = new EtcdServer(new EtcdConnection(client, TIMEOUT),
					new EtcdStoreSettings("lock:", TIMEOUT, Duration.ofMillis(300)));
			CompletionStage<?> connected = silent.connected();
			assertThat(connected).isNotDone();
			assertThat(connected).succeedsWithin(TIMEOUT);
			assertThat(silent.connected()).isDone();
			paused.resume();
		}
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
		assertThat(get(this.server.write(second.entry(), "1000", 0))).isTrue();
		assertThat(get(this.server.read(second.entry())).orElseThrow().millis()).isEqualTo(1000);
		assertThat(get(this.server.remove(second.entry()))).isTrue();
	}

	@Test
	void secondKeyOfAnInstanceHasANameOfItsOwnAndIsFoundAgain() throws Exception {
		Added first = add(token(INSTANCE, 1));
		Added second = add(token(INSTANCE, 2));
		assertThat(name(second)).isNotEqualTo(name(first));
		assertThat(tokens()).containsExactly(token(INSTANCE, 1).toString(), token(INSTANCE, 2).toString());
		get(this.server.remove(first.entry()));
		// its answer was lost, and the name of all is free by now
		Added again = add(token(INSTANCE, 2));
		assertThat(again.entry().id()).isEqualTo(second.entry().id());
		assertThat(get(this.server.find(this.key, token(INSTANCE, 2))).id()).isEqualTo(second.entry().id());
		assertThat(tokens()).containsExactly(token(INSTANCE, 2).toString());
		get(this.server.remove(again.entry()));
		assertThat(tokens()).isEmpty();
	}

	/** The lease of a request that got no answer is revoked, perhaps late. */
	@Test
	@Tag("lost-reply")
	void keyThatIsFoundAgainDoesNotGoWithTheLeaseOfTheFirstRequest() throws Exception {
		Added first = add(token(INSTANCE, 1));
		long lease = ((EtcdEntry.Mine) first.entry()).lease();
		Added again = add(token(INSTANCE, 1));
		assertThat(again.entry().id()).isEqualTo(first.entry().id());
		this.client.getLeaseClient().revoke(lease).get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
		assertThat(tokens()).containsExactly(token(INSTANCE, 1).toString());
		assertThat(again.entry().validUntil() - System.nanoTime()).isPositive();
		get(this.server.remove(again.entry()));
		assertThat(tokens()).isEmpty();
	}

	/** Otherwise two instances could wait for each other. */
	@Test
	void keyThatWasCreatedAgainIsNotWaitedFor() throws Exception {
		Added first = add(token(INSTANCE, 1));
		Added waiter = add(token(OTHER, 1));
		Entry before = waiter.queue().get(0);
		CountDownLatch gone = new CountDownLatch(1);
		assertThat(get(this.server.watch(before, waiter.entry(), gone::countDown))).isPresent();
		get(this.server.remove(first.entry()));
		assertThat(gone.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
		Added again = add(token(INSTANCE, 2));
		assertThat(name(again)).isEqualTo(name(first));
		assertThat(get(this.server.read(before))).isEmpty();
		assertThat(get(this.server.watch(before, waiter.entry(), gone::countDown))).isEmpty();
		assertThat(tokens()).containsExactly(token(OTHER, 1).toString(), token(INSTANCE, 2).toString());
		get(this.server.remove(waiter.entry()));
		get(this.server.remove(again.entry()));
	}

	/** Many short waits behind a long hold would gather them. */
	@Test
	void watchEndsWithTheEntryThatWaits() throws Exception {
		Added owner = add(token(INSTANCE, 1));
		long before = watchers();
		for (int i = 1; i <= 5; i++) {
			Added waiter = add(token(OTHER, i));
			assertThat(get(this.server.watch(owner.entry(), waiter.entry(), () -> {
			}))).isPresent();
			assertThat(watchers()).isGreaterThan(before);
			get(this.server.remove(waiter.entry()));
			// the watch may begin when its waiter is gone already
			assertThat(get(this.server.watch(owner.entry(), waiter.entry(), () -> {
			}))).isPresent();
			await().atMost(TIMEOUT).until(this::watchers, (present) -> present == before);
		}
		get(this.server.remove(owner.entry()));
	}

	/** Such as a key that was released by force: its owner has lost the lock. */
	@Test
	void removalFindsThatTheKeyIsGoneAlsoWhenItsLeaseIsOld() throws Exception {
		Added owner = get(this.server.add(this.key, token(INSTANCE, 1), false, 4_000, "4000"));
		get(this.server.remove(owner.queue().get(0)));
		Added next = add(token(OTHER, 1));
		long old = TimeUnit.SECONDS.toNanos(3);
		await().atMost(TIMEOUT).until(() -> owner.entry().validUntil() - System.nanoTime() < old);
		assertThat(get(this.server.remove(owner.entry()))).isFalse();
		assertThat(get(this.server.remove(next.entry()))).isTrue();
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

}
