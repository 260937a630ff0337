package io.github.lockspring.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.zookeeper.ZooKeeperLockStore;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The store in ZooKeeper in an application.
 */
class ZooKeeperLockStoreAutoConfigurationTests {

	private static TestingServer server;

	private final ApplicationContextRunner runner = Applications.withoutRedis()
		.withPropertyValues("distributed-lock.store=zookeeper",
				"distributed-lock.zookeeper.connect-string=" + server.getConnectString(),
				"distributed-lock.zookeeper.session-timeout=10s");

	@BeforeAll
	static void start() throws Exception {
		server = new TestingServer(
				new InstanceSpec(null, -1, -1, -1, true, 1, 1000, 100, Map.of("admin.enableServer", "false")), true);
	}

	@AfterAll
	static void stop() throws Exception {
		server.close();
	}

	@Test
	void locksAreBelowTheNodeOfTheKeyPrefix() {
		this.runner.withPropertyValues("distributed-lock.key-prefix=shop/locks:").run((context) -> {
			assertThat(context).hasSingleBean(LockStore.class)
				.hasSingleBean(ZooKeeperLockStore.class)
				.doesNotHaveBean(CuratorFramework.class);
			try (HeldLock lock = context.getBean(LockTemplate.class).acquire(LockRequest.of("a/b"))) {
				assertThat(lock.isHeld()).isTrue();
				assertThat(children("/shop%2Flocks/a%2Fb")).hasSize(1);
			}
			assertThat(children("/shop%2Flocks/a%2Fb")).isEmpty();
		});
	}

	@Test
	void clientOfTheApplicationIsUsedAndNotClosed() {
		try (CuratorFramework client = client((builder) -> builder.namespace("theirs"))) {
			this.runner
				.withPropertyValues("distributed-lock.zookeeper.connect-string=localhost:1", "distributed-lock.ttl=2m")
				.withBean(CuratorFramework.class, () -> client)
				.run((context) -> {
					try (HeldLock lock = context.getBean(LockTemplate.class).acquire(LockRequest.of("a"))) {
						assertThat(lock.isHeld()).isTrue();
						assertThat(children("/theirs/lock/a")).hasSize(1);
					}
				});
		}
	}

	@Test
	@Tag("zookeeper-short-ttl")
	void annotationWithATtlBelowTheSessionTimeoutStopsTheStartWithBothNumbers() {
		FailureAnalysis failure = StartupFailures.of(this.runner.withUserConfiguration(Brief.class));
		assertThat(failure.getDescription()).contains("ttl = \"5s\"")
			.contains("the store of this application cannot give less than 10s");
	}

	@Test
	@Tag("rights-zookeeper")
	@Tag("zookeeper-rights")
	void nodesOfTheCreatorAreClosedToOthersWhoReadWhatToDo() {
		this.runner
			.withPropertyValues("distributed-lock.zookeeper.auth=digest:me:secret",
					"distributed-lock.key-prefix=closed:")
			.run((context) -> {
				try (HeldLock lock = context.getBean(LockTemplate.class).acquire(LockRequest.of("a"))) {
					assertThat(lock.isHeld()).isTrue();
					this.runner.withPropertyValues("distributed-lock.key-prefix=closed:")
						.run((other) -> assertThatExceptionOfType(LockUnavailableException.class)
							.isThrownBy(() -> other.getBean(LockTemplate.class).acquire(LockRequest.of("a")))
							.withStackTraceContaining("Check distributed-lock.zookeeper.auth")
							.matches(LockUnavailableException::isPermanent));
				}
			});
	}

	@Test
	@Tag("zookeeper-rights")
	void parentOfTheLocksThatBelongsToOthersIsNamed() throws Exception {
		byte[] secret = "others:secret".getBytes(StandardCharsets.UTF_8);
		try (CuratorFramework others = client((builder) -> builder.authorization("digest", secret));
				CuratorFramework client = client((builder) -> builder.namespace("others"))) {
			others.create().withACL(ZooDefs.Ids.CREATOR_ALL_ACL).forPath("/others");
			this.runner.withPropertyValues("distributed-lock.ttl=2m")
				.withBean(CuratorFramework.class, () -> client)
				.run((context) -> assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> context.getBean(LockTemplate.class).acquire(LockRequest.of("a")))
					.withStackTraceContaining("does not let this application use /others/lock")
					.matches(LockUnavailableException::isPermanent));
		}
	}

	@Test
	@Tag("zookeeper-rights")
	void credentialsAlsoApplyToAClientOfTheApplication() throws Exception {
		try (CuratorFramework client = client((builder) -> builder)) {
			this.runner
				.withPropertyValues("distributed-lock.zookeeper.auth=digest:me:secret",
						"distributed-lock.key-prefix=credentials:", "distributed-lock.ttl=2m")
				.withBean(CuratorFramework.class, () -> client)
				.run((context) -> {
					try (HeldLock lock = context.getBean(LockTemplate.class).acquire(LockRequest.of("a"))) {
						assertThat(lock.isHeld()).isTrue();
						assertThat(client.getACL().forPath("/credentials/a"))
							.extracting((acl) -> acl.getId().getScheme())
							.containsExactly("digest");
					}
				});
		}
	}

	private static CuratorFramework client(UnaryOperator<CuratorFrameworkFactory.Builder> settings) {
		CuratorFramework client = settings
			.apply(CuratorFrameworkFactory.builder()
				.connectString(server.getConnectString())
				.retryPolicy(new RetryOneTime(100)))
			.build();
		client.start();
		return client;
	}

	private static List<String> children(String path) throws Exception {
		try (CuratorFramework client = client((builder) -> builder)) {
			// the server deletes a container that is empty, once a minute
			return (client.checkExists().forPath(path) != null) ? client.getChildren().forPath(path) : List.of();
		}
	}

	static class Brief {

		@DistributedLock(key = "'a'", ttl = "5s")
		void run() {
		}

	}

}
