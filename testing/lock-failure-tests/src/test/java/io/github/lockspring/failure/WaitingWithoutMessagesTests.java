package io.github.lockspring.failure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * An instance that messages do not reach, beside others that hand a busy lock over to
 * each other all the time.
 */
class WaitingWithoutMessagesTests {

	private static final LockRequest REQUEST = LockRequest.of("hot")
		.ttl(Duration.ofSeconds(10))
		.waitTime(Duration.ofSeconds(15));

	private final RedisServer redis = RedisServer.start();

	private final TcpProxy proxy = new TcpProxy(this.redis.port());

	private final List<Instance> instances = new ArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final AtomicInteger holds = new AtomicInteger();

	private volatile boolean stopping;

	@AfterEach
	void stop() {
		this.stopping = true;
		this.threads.shutdownNow();
		this.instances.forEach(Instance::close);
		this.proxy.close();
		this.redis.close();
	}

	private Instance instance(Driver driver, RedisStandaloneConfiguration where) {
		Instance instance = Instance.on(driver, where, 0);
		this.instances.add(instance);
		instance.locks().acquire(LockRequest.of("warm-up").waitTime(Duration.ofMinutes(1))).close();
		return instance;
	}

	private RedisStandaloneConfiguration server() {
		return new RedisStandaloneConfiguration("127.0.0.1", this.redis.port());
	}

	private RedisStandaloneConfiguration serverFor(String rules) {
		List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", "restricted", "on", ">secret", "~*"));
		words.addAll(List.of(rules.split(" ")));
		this.redis.command(words.toArray(String[]::new));
		RedisStandaloneConfiguration where = server();
		where.setUsername("restricted");
		where.setPassword("secret");
		return where;
	}

	/** Three instances, two threads each, hold the lock in turn without a pause. */
	private void contend() throws InterruptedException {
		for (int i = 0; i < 3; i++) {
			Instance instance = instance(Driver.LETTUCE, server());
			for (int t = 0; t < 2; t++) {
				this.threads.execute(() -> {
					while (!this.stopping) {
						try (HeldLock held = instance.locks().acquire(REQUEST.waitTime(Duration.ofMinutes(5)))) {
							LockSupport.parkNanos(1_000_000);
							this.holds.incrementAndGet();
						}
						catch (LockException ex) {
							// thrown to waiters at the end. Uncaught, it would fail the
							// next await()
							if (!this.stopping) {
								throw ex;
							}
						}
					}
				});
			}
		}
		while (this.holds.get() < 200) {
			TimeUnit.MILLISECONDS.sleep(10);
		}
	}

	@ParameterizedTest
	@CsvSource({ "LETTUCE, &* +@all -subscribe -psubscribe", "JEDIS, &* +@all -subscribe -psubscribe",
			"LETTUCE, resetchannels +@all", "JEDIS, resetchannels +@all" })
	@Tag("without-messages")
	void h09InstanceWhoseSubscriptionIsRefusedGetsItsTurn(Driver driver, String rules) throws Exception {
		Instance restricted = instance(driver, serverFor(rules));
		contend();
		int before = this.holds.get();
		for (int i = 0; i < 5; i++) {
			restricted.locks().acquire(REQUEST).close();
		}
		// a turn of each between two of its own
		assertThat(this.holds.get() - before).as("holds of the others meanwhile").isGreaterThan(10);
	}

	/** An instance whose inbox is open, since it has waited before. */
	private Instance informed(Driver driver) throws Exception {
		RedisStandaloneConfiguration where = serverFor("&* +@all");
		where.setPort(this.proxy.port());
		Instance instance = instance(driver, where);
		this.redis.command("SET", "lock:other", "a plain client", "PX", "60000");
		Future<HeldLock> waits = this.threads
			.submit(() -> instance.locks().acquire(LockRequest.of("other").waitTime(Duration.ofMinutes(1))));
		await().atMost(Duration.ofSeconds(60)).until(() -> lastSubscription() > 0);
		this.redis.command("DEL", "lock:other");
		waits.get(60, TimeUnit.SECONDS).close();
		return instance;
	}

	/** The number of the instance's last subscription, as the server counts clients. */
	private long lastSubscription() {
		return ((String) Objects.requireNonNull(this.redis.command("CLIENT", "LIST", "TYPE", "pubsub"))).lines()
			.filter((client) -> client.contains("user=restricted"))
			.mapToLong((client) -> Long.parseLong(client.substring("id=".length(), client.indexOf(' '))))
			.max()
			.orElse(0);
	}

	@ParameterizedTest
	@EnumSource
	void f24InstanceWhoseSubscriptionIsCutAndNotAllowedBackGetsItsTurn(Driver driver) throws Exception {
		Instance instance = informed(driver);
		contend();
		this.redis.command("ACL", "SETUSER", "restricted", "-subscribe", "-psubscribe");
		this.proxy.cutSubscribers(Cut.RST);
		for (int i = 0; i < 5; i++) {
			instance.locks().acquire(REQUEST).close();
		}
	}

	@ParameterizedTest
	@EnumSource
	@Tag("h13")
	void f24SubscriptionThatOnlySeemsAliveIsReplacedAlsoWhereAllWaitsAreShort(Driver driver) throws Exception {
		Instance instance = informed(driver);
		Instance owner = instance(Driver.LETTUCE, server());
		long before = lastSubscription();
		this.proxy.killSubscribersSilently();
		await().atMost(Duration.ofSeconds(60)).until(() -> {
			HeldLock held = owner.locks().acquire(LockRequest.of("order").waitTime(Duration.ofSeconds(15)));
			Future<Optional<HeldLock>> waits = this.threads
				.submit(() -> instance.locks().tryAcquire(LockRequest.of("order").waitTime(Duration.ofMillis(400))));
			TimeUnit.MILLISECONDS.sleep(200);
			// is handed over, and nobody learns of it
			held.close();
			waits.get(60, TimeUnit.SECONDS).ifPresent(HeldLock::close);
			return lastSubscription() > before;
		});
	}

}
