package io.github.lockspring.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.kv.GetResponse;
import io.github.lockspring.LockRequest;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.grpc.Status;
import io.github.lockspring.testsupport.store.Instance;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * When a client is replaced, and that none is left open.
 */
class EtcdConnectionTests {

	private static final Duration TIMEOUT = Duration.ofMillis(100);

	private static final Duration PATIENCE = Duration.ofMillis(200);

	/** Enough to connect on a machine that is busy. */
	private static final Duration LONGER_PATIENCE = Duration.ofSeconds(1);

	private static final Duration PATIENT = Duration.ofSeconds(60);

	private static final String NOWHERE = "http://127.0.0.1:1";

	private static final ByteSequence KEY = ByteSequence.from("connection", StandardCharsets.UTF_8);

	private static EtcdConnection connection(Supplier<Client> clients) {
		return new EtcdConnection(clients, TIMEOUT, PATIENCE, Duration.ZERO);
	}

	private static CompletionStage<GetResponse> send(EtcdConnection connection) {
		return connection.send((client) -> client.getKVClient().get(KEY));
	}

	/**
	 * Sends requests, several at a time, and returns whether the last one was answered.
	 */
	private static boolean isAnswered(EtcdConnection connection) {
		for (int i = 0; i < 10; i++) {
			send(connection);
		}
		return send(connection).handle((response, ex) -> ex == null).toCompletableFuture().join();
	}

	/**
	 * gRPC lets a client wait for about as long again, more or less by chance: the
	 * clients that took its place are the proof.
	 */
	@Test
	@RequiresEtcd
	@Tag("etcd-new-client")
	@Tag("restart")
	void f22LocksWorkSoonAfterALongOutage() throws Exception {
		long start = System.nanoTime();
		try (EtcdProcess server = EtcdProcess.alone();
				Clients.Counted clients = new Clients.Counted(Clients.builder(server.address()));
				Instance one = instance(clients);
				Instance other = instance(clients)) {
			server.kill();
			long gone = System.nanoTime();
			CompletableFuture<Void> first = acquires(one, "a");
			CompletableFuture<Void> second = acquires(other, "b");
			assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> first.get(15, TimeUnit.SECONDS));
			server.start();
			server.awaitUsable();
			long back = System.nanoTime();
			first.get(1, TimeUnit.MINUTES);
			second.get(1, TimeUnit.MINUTES);
			assertThat(System.nanoTime() - back).isLessThan(back - gone);
			long most = 1 + (System.nanoTime() - start) / EtcdConnection.PATIENCE.toNanos();
			assertThat((long) clients.made()).isBetween(4L, 2 * most);
		}
	}

	/** One that has had a lock. */
	private static Instance instance(Supplier<Client> clients) {
		Instance instance = Instance.over(EtcdLockStore.builder(clients).build()).start();
		instance.locks().acquire(LockRequest.of("before")).close();
		return instance;
	}

	private static CompletableFuture<Void> acquires(Instance instance, String key) {
		return CompletableFuture
			.runAsync(() -> instance.locks().acquire(LockRequest.of(key).waitTime(PATIENT)).close());
	}

	@Test
	@RequiresEtcd
	@Tag("etcd-new-client")
	void silentServerMakesFewClientsAndEndsTheWatchesOfEach() throws Exception {
		EtcdProcess server = EtcdProcess.shared();
		try (TcpProxy proxy = new TcpProxy(server.port());
				Clients.Counted clients = new Clients.Counted(Clients.builder("http://127.0.0.1:" + proxy.port()));
				EtcdConnection connection = new EtcdConnection(clients, TIMEOUT, LONGER_PATIENCE, Duration.ZERO)) {
			await().atMost(PATIENT).until(() -> isAnswered(connection));
			int before = clients.made();
			CountDownLatch gone = new CountDownLatch(1);
			// on a busy machine a watch may not begin in time
			await().atMost(PATIENT)
				.ignoreExceptions()
				.until(() -> connection.watch(KEY, gone::countDown).toCompletableFuture().get() != null);
			proxy.stall();
			long start = System.nanoTime();
			await().atMost(PATIENT).until(() -> !isAnswered(connection) && clients.made() >= before + 2);
			assertThat(clients.made() - before)
				.isLessThanOrEqualTo((int) ((System.nanoTime() - start) / LONGER_PATIENCE.toNanos()));
			assertThat(gone.await(10, TimeUnit.SECONDS)).isTrue();
			await().atMost(PATIENT).until(() -> clients.open() <= 2);
			proxy.restore();
			await().atMost(PATIENT).until(() -> isAnswered(connection));
		}
	}

	@Test
	@Tag("etcd-new-client")
	void refusalsAndLateAnswersReplaceNoClient() throws Exception {
		try (Clients.Counted clients = new Clients.Counted(Clients.builder(NOWHERE));
				EtcdConnection connection = connection(clients)) {
			CompletableFuture<String> late = new CompletableFuture<>();
			CompletionStage<String> slow = connection.send((client) -> late);
			assertThat(slow).failsWithin(PATIENT);
			Thread.sleep(PATIENCE.toMillis());
			late.complete("answer");
			send(connection);
			long end = System.nanoTime() + PATIENCE.multipliedBy(2).toNanos();
			while (System.nanoTime() < end) {
				connection.send((client) -> CompletableFuture
					.failedFuture(Status.UNAVAILABLE.withDescription("etcdserver: no leader").asRuntimeException()));
				connection.send((client) -> CompletableFuture.failedFuture(Status.INVALID_ARGUMENT
					.withDescription("etcdserver: authentication failed, invalid user ID or password")
					.asRuntimeException()));
				send(connection);
				Thread.sleep(10);
			}
			assertThat(clients.made()).isOne();
		}
	}

	/** It may be loading classes; a new client would begin anew. */
	@Test
	@Tag("etcd-new-client")
	void firstClientHasTheConnectTimeout() throws Exception {
		try (Clients.Counted clients = new Clients.Counted(Clients.builder(NOWHERE));
				EtcdConnection connection = new EtcdConnection(clients, TIMEOUT, PATIENCE, PATIENT)) {
			CompletableFuture<String> late = new CompletableFuture<>();
			long end = System.nanoTime() + PATIENCE.multipliedBy(4).toNanos();
			while (System.nanoTime() < end) {
				assertThat(connection.send((client) -> late)).failsWithin(PATIENT);
			}
			assertThat(clients.made()).isOne();
			late.complete("answer");
			await().atMost(PATIENT).until(() -> {
				connection.send((client) -> new CompletableFuture<>());
				return clients.made() > 1;
			});
		}
	}

	@Test
	@Tag("etcd-client-is-kept")
	void clientOfTheApplicationIsNeitherReplacedNorClosed() {
		Clients.Counted clients = new Clients.Counted(Clients.builder(NOWHERE));
		try (Client client = clients.get(); EtcdConnection connection = new EtcdConnection(client, TIMEOUT)) {
			long end = System.nanoTime() + PATIENCE.multipliedBy(2).toNanos();
			while (System.nanoTime() < end) {
				assertThat(isAnswered(connection)).isFalse();
			}
			connection.close();
			assertThat(clients.made()).isOne();
			assertThat(clients.open()).isOne();
		}
		clients.close();
	}

	@Test
	void clientThatCannotBeMadeIsTriedAgain() {
		try (Clients.Counted clients = new Clients.Counted(Clients.builder(NOWHERE))) {
			CountDownLatch attempts = new CountDownLatch(3);
			try (EtcdConnection connection = connection(() -> {
				attempts.countDown();
				if (attempts.getCount() == 1) {
					throw new IllegalStateException("no certificate");
				}
				return clients.get();
			})) {
				await().atMost(PATIENT).until(() -> !isAnswered(connection) && clients.made() == 2);
			}
		}
	}

	@Test
	void clientThatIsMadeWhileTheConnectionIsClosedIsClosedToo() {
		try (Clients.Counted clients = new Clients.Counted(Clients.builder(NOWHERE))) {
			CountDownLatch asked = new CountDownLatch(2);
			CountDownLatch closed = new CountDownLatch(1);
			try (EtcdConnection connection = connection(() -> {
				asked.countDown();
				if (asked.getCount() == 0) {
					await().atMost(PATIENT).until(() -> closed.getCount() == 0);
				}
				return clients.get();
			})) {
				await().atMost(PATIENT).until(() -> !isAnswered(connection) && asked.getCount() == 0);
			}
			closed.countDown();
			await().atMost(PATIENT).until(() -> clients.made() == 2 && clients.open() == 0);
		}
	}

}
