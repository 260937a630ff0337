package io.github.lockspring;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the border between what users may rely on and the rest. A public type is on one
 * of these lists, or in a package named {@code internal}.
 */
class PublicApiTests {

	private static final String ROOT = "io.github.lockspring";

	private static final Set<String> VOCABULARY = Set.of("DistributedLock", "Fenced", "OnBusy", "OnLost",
			"LockTemplate", "LockRequest", "HeldLock", "LockCallback", "LockEvent", "FencingGuard", "LockException",
			"LockNotAcquiredException", "LockUnavailableException", "LockLostException", "LockInterruptedException",
			"StaleFencingTokenException", "LockDefinitionException");

	private static final Set<String> STORES = Set.of("store.memory.MemoryLockStore", "redis.RedisLockStore",
			"redis.redlock.RedlockLockStore", "jdbc.JdbcLockStore", "zookeeper.ZooKeeperLockStore",
			"etcd.EtcdLockStore", "fencing.JdbcFencingGuard");

	/** For those who write a store; may change until 1.0. */
	private static final Set<String> STORE_SPI = Set.of("store.LockStore", "store.DelegatingLockStore",
			"store.LockStoreInspector", "store.Inbox", "store.InboxListener", "store.InstanceInfo", "store.OwnerToken",
			"store.StoreHealth", "store.StoreTraits", "store.StoredLock");

	/** With the auto-configurations, whose names applications exclude. */
	private static final Set<String> SPRING_BOOT = Set.of("autoconfigure.LockDataSource",
			"autoconfigure.LockAutoConfiguration", "autoconfigure.RedisLockStoreAutoConfiguration",
			"autoconfigure.RedlockLockStoreAutoConfiguration", "autoconfigure.JdbcLockStoreAutoConfiguration",
			"autoconfigure.ZooKeeperLockStoreAutoConfiguration", "autoconfigure.EtcdLockStoreAutoConfiguration",
			"autoconfigure.LockFencingAutoConfiguration", "autoconfigure.observation.LockObservationConvention",
			"autoconfigure.observation.LockObservationContext", "autoconfigure.observation.LockMetersAutoConfiguration",
			"autoconfigure.observation.LockObservationAutoConfiguration",
			"autoconfigure.actuate.DistributedLocksEndpointAutoConfiguration",
			"autoconfigure.actuate.DistributedLocksHealthAutoConfiguration");

	@Test
	void typesThatArePublicAreOnTheList() {
		List<String> visible = ArchitectureTests.CLASSES.stream()
			.filter((type) -> type.isTopLevelClass() && isVisible(type) && !isInternal(type))
			.map((type) -> type.getName().substring(ROOT.length() + 1))
			.toList();
		assertThat(visible).containsExactlyInAnyOrderElementsOf(
				Stream.of(VOCABULARY, STORES, STORE_SPI, SPRING_BOOT).flatMap(Set::stream).toList());
	}

	@Test
	void signaturesOfTheApiNameNothingInternal() {
		List<String> leaks = new ArrayList<>();
		ArchitectureTests.CLASSES.stream()
			.filter((type) -> !isInternal(type) && isVisible(type)
					&& type.getEnclosingClass().stream().allMatch(PublicApiTests::isVisible))
			.forEach((type) -> {
				types(type).filter(PublicApiTests::isInternal).forEach((used) -> leaks.add(type + " extends " + used));
				type.getMembers()
					.stream()
					.filter((member) -> member.getModifiers().contains(JavaModifier.PUBLIC)
							|| member.getModifiers().contains(JavaModifier.PROTECTED))
					.forEach((member) -> member.getAllInvolvedRawTypes()
						.stream()
						.filter(PublicApiTests::isInternal)
						.forEach((used) -> leaks.add(member.getFullName() + " names " + used)));
			});
		assertThat(leaks).isEmpty();
	}

	private static boolean isVisible(JavaClass type) {
		return type.getModifiers().contains(JavaModifier.PUBLIC);
	}

	private static boolean isInternal(JavaClass type) {
		return List.of(type.getPackageName().split("\\.")).contains("internal");
	}

	private static Stream<JavaClass> types(JavaClass type) {
		return Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream())
			.flatMap((each) -> each.getAllInvolvedRawTypes().stream());
	}

}
