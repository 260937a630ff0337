package io.github.lockspring;

import java.io.File;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaFieldAccess;
import com.tngtech.archunit.core.domain.JavaFieldAccess.AccessType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.github.lockspring.internal.engine.support.LockEvents;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.spi.LoggingEventBuilder;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the table of rooms: what each package is for decides what it may import.
 */
class ArchitectureTests {

	private static final String ROOT = "io.github.lockspring";

	private static final int MAX_CIRCLE = 3;

	/**
	 * The state machine of a key, what it tells, and what calls it. Its states, waiters
	 * and holds know each other.
	 */
	private static final Set<String> STATE_MACHINE = ofTheEngine("KeyLock", "KeyState", "KeyLockPort", "Held", "Waiter",
			"AcquireFailure", "WaitQueue", "Release", "Releases", "Renewal", "Watchdog");

	/** Events of a key run in them, on threads of drivers too. */
	private static final Set<String> ON_DRIVERS_THREADS = ofTheEngine("KeyLock", "KeyState", "Held", "WaitQueue",
			"Release", "Releases", "Renewals", "KeyLockRegistry", "FutureWaiter", "support.ShardHealth",
			"support.StoreClient$Sent");

	/** What stores do on threads of drivers, and log. */
	private static final Set<String> OF_STORES_ON_DRIVERS_THREADS = Set.of(ROOT + ".etcd.EtcdVersions",
			ROOT + ".redis.InboxMessages", ROOT + ".redis.internal.client.ScriptSender",
			ROOT + ".redis.redlock.RedlockNodeClient", ROOT + ".redis.redlock.RedlockRequests");

	/**
	 * What waits in a thread, belongs to the thread of a call or to that of the watchdog,
	 * or shows threads to people. A waiter and a hold can say which thread it is.
	 */
	private static final Set<String> KNOW_THREADS = ofTheEngine("Waiter", "ThreadWaiter", "FutureWaiter", "Held",
			"LossInterrupt", "DefaultHeldLock", "DefaultLockTemplate", "ThreadLocks", "Watchdog", "LockEngine");

	/** Imports nothing of ours, and may be imported by each room. */
	private static final String BASE = "internal.base";

	/**
	 * Each room and the rooms that it may import; an empty name is the root package. Only
	 * the rooms of {@code autoconfigure} import {@code autoconfigure}. What a module may
	 * import, Maven holds.
	 */
	private static final Map<String, List<String>> ROOMS = Map.ofEntries(Map.entry(BASE, List.of()),
			Map.entry("", List.of()), Map.entry("internal", List.of("")), Map.entry("store", List.of("")),
			Map.entry("store.memory", List.of("", "store")),
			Map.entry("internal.queue", List.of("internal", "", "store")), Map.entry("internal.aop", List.of("")),
			Map.entry("internal.interceptor", List.of("internal", "", "internal.aop")),
			Map.entry("internal.engine", List.of("internal", "", "store", "internal.engine.support")),
			Map.entry("internal.engine.support", List.of("internal", "", "store")),
			Map.entry("internal.transaction", List.of("internal", "")),
			Map.entry("internal.fencing", List.of("internal", "", "internal.aop")),
			Map.entry("zookeeper", List.of("internal", "", "store", "internal.queue")),
			Map.entry("etcd", List.of("internal", "", "store", "internal.queue")),
			Map.entry("redis", List.of("internal", "", "store", "redis.internal", "redis.internal.client")),
			Map.entry("redis.internal", List.of("", "store", "redis.internal.client")),
			Map.entry("redis.internal.client", List.of("internal", "", "store")),
			Map.entry("redis.redlock", List.of("internal", "", "store", "redis.internal", "redis.internal.client")),
			Map.entry("jdbc", List.of("internal", "", "store", "internal.sql")), Map.entry("internal.sql", List.of()),
			Map.entry("fencing", List.of("", "internal.sql")),
			Map.entry("autoconfigure.internal", List.of("internal.engine")),
			Map.entry("autoconfigure",
					List.of("internal", "", "store", "store.memory", "redis", "redis.redlock", "fencing", "jdbc",
							"zookeeper", "etcd", "internal.aop", "internal.interceptor", "internal.engine",
							"internal.engine.support", "internal.transaction", "internal.fencing", "internal.sql",
							"autoconfigure.internal")),
			Map.entry("autoconfigure.observation",
					List.of("internal", "", "store", "internal.engine.support", "internal.interceptor",
							"autoconfigure.internal")),
			Map.entry("autoconfigure.actuate", List.of("", "store", "internal.engine", "autoconfigure.internal")));

	static final JavaClasses CLASSES = new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
		.withImportOption((location) -> !location.contains("lock-test-support"))
		.importPackages(ROOT);

	@Test
	void f17NeitherStoreNorEngineReadsTheWallClock() {
		noClasses().that()
			.resideInAnyPackage(ROOT + ".redis..", ROOT + ".jdbc..", ROOT + ".internal.engine..")
			.and()
			// numbers owner tokens by it, which decides about no lease; MonotonicClock,
			// which compares the clocks, is in another package
			.doNotHaveSimpleName("Time")
			.should()
			.callMethod(System.class, "currentTimeMillis")
			.orShould()
			.callMethod(Instant.class, "now")
			.orShould()
			.dependOnClassesThat()
			.areAssignableTo(Clock.class)
			.check(CLASSES);
	}

	@Test
	void everyPackageIsARoom() {
		assertThat(CLASSES).isNotEmpty()
			.allSatisfy((type) -> assertThat(ROOMS.keySet().stream().map(ArchitectureTests::packageOf))
				.as("the package of %s", type)
				.contains(type.getPackageName()));
	}

	@ParameterizedTest
	@MethodSource("rooms")
	void roomImportsOnlyWhatTheTableAllows(String room) {
		String[] allowed = Stream.concat(Stream.of(room, BASE), ROOMS.getOrDefault(room, List.of()).stream())
			.map(ArchitectureTests::packageOf)
			.toArray(String[]::new);
		classes().that(resideInAPackage(packageOf(room)))
			.should()
			.onlyDependOnClassesThat(resideInAnyPackage(allowed).or(outsideOf(ROOT)))
			.allowEmptyShould(true)
			.check(CLASSES);
	}

	@Test
	void roomsHaveNoCycles() {
		slices().matching(ROOT + ".(**)").should().beFreeOfCycles().check(CLASSES);
	}

	@ParameterizedTest
	@CsvSource({ "store, org.slf4j..", "'', org.springframework.aot.hint.annotation", "internal.engine, org.slf4j..",
			"internal.engine.support, org.slf4j.." })
	void roomNeedsOneLibraryBesideJava(String room, String library) {
		classes().that(resideInAPackage(packageOf(room)))
			.should()
			.onlyDependOnClassesThat(resideInAnyPackage("java..", "org.jspecify..", library, ROOT + ".."))
			.check(CLASSES);
	}

	@Test
	void interceptorKnowsNothingOfRedis() {
		classes().that(resideInAPackage(packageOf("internal.interceptor")))
			.should()
			.onlyDependOnClassesThat(
					outsideOf("org.springframework.data", "org.springframework.boot", "io.lettuce", "redis.clients"))
			.check(CLASSES);
	}

	@Test
	void noTwoModulesShareAPackage() {
		assertThat(Documentation.modules().stream().flatMap((module) -> packages(module).stream()))
			.hasSizeGreaterThan(10)
			.doesNotHaveDuplicates();
	}

	@Test
	void everyModuleHasANameOfItsOwnThatItsPackagesBeginWith() {
		List<String> names = new ArrayList<>();
		for (Path module : Documentation.modules()) {
			String pom = Documentation.read(module.resolve("pom.xml"));
			String name = pom.replaceFirst("(?s).*<java\\.module\\.name>([\\w.]+)</java\\.module\\.name>.*", "$1");
			assertThat(packages(module)).as("packages of %s", module).allMatch((each) -> each.startsWith(name));
			names.add(name);
		}
		assertThat(names).doesNotHaveDuplicates().allMatch((name) -> name.matches("[\\w.]+"));
	}

	@Test
	void everyPackageIsNullMarked() {
		assertThat(CLASSES.stream().map(JavaClass::getPackage).distinct())
			.allMatch((javaPackage) -> javaPackage.isAnnotatedWith(NullMarked.class));
	}

	@Test
	void classesOfAPackageFormNoLargeCircles() {
		assertThat(circles()).filteredOn((circle) -> !STATE_MACHINE.equals(circle))
			.allSatisfy((circle) -> assertThat(circle).hasSizeLessThanOrEqualTo(MAX_CIRCLE));
	}

	@Test
	void eventsOfAKeyCallNothingThatBlocks() {
		assertThat(CLASSES.stream()
			.filter((type) -> ON_DRIVERS_THREADS.contains(outermost(type))
					|| ON_DRIVERS_THREADS.contains(type.getName()))
			.flatMap((type) -> type.getAccessesFromSelf().stream())
			.filter((access) -> blocks(access) || (callsUsers(access) && !access.isDeclaredInLambda()))
			.map(JavaAccess::getDescription)).isEmpty();
	}

	@Test
	void storesLeaveTheirLogToAThreadThatMayBlock() {
		assertThat(CLASSES.stream()
			.filter((type) -> OF_STORES_ON_DRIVERS_THREADS.contains(outermost(type)))
			.flatMap((type) -> type.getAccessesFromSelf().stream())
			.filter((access) -> callsUsers(access) && access.getName().matches("debug|info|warn|error"))).isNotEmpty()
			.allMatch(JavaAccess::isDeclaredInLambda);
	}

	private static Set<String> ofTheEngine(String... names) {
		return Arrays.stream(names)
			.map((name) -> packageOf("internal.engine") + "." + name)
			.collect(Collectors.toSet());
	}

	private static boolean blocks(JavaAccess<?> access) {
		JavaClass owner = access.getTargetOwner();
		String name = access.getName();
		return (owner.isAssignableTo(Future.class) && name.equals("get"))
				|| (name.equals("join") && !owner.isEquivalentTo(String.class))
				|| (owner.isAssignableTo(Thread.class) && List.of("interrupt", "sleep").contains(name))
				|| (owner.isAssignableTo(BlockingQueue.class) && List.of("take", "put").contains(name))
				|| (owner.isEquivalentTo(Semaphore.class) && name.equals("acquire")) || name.equals("wait")
				|| name.startsWith("park") || name.startsWith("await");
	}

	/**
	 * Writes to the log, or calls a listener, which has to be left to another thread: an
	 * appender may block.
	 */
	private static boolean callsUsers(JavaAccess<?> access) {
		JavaClass owner = access.getTargetOwner();
		return owner.isAssignableTo(Logger.class) || owner.isAssignableTo(LoggingEventBuilder.class)
				|| (owner.isEquivalentTo(LockEvents.class) && access.getName().equals("publish"));
	}

	@Test
	void onlyWhatIsAboutThreadsNamesThem() {
		assertThat(CLASSES.stream()
			.filter((type) -> type.getPackageName().equals(packageOf("internal.engine")))
			.filter((type) -> type.getDirectDependenciesFromSelf()
				.stream()
				.anyMatch((dependency) -> dependency.getTargetClass().isEquivalentTo(Thread.class)))
			.map(ArchitectureTests::outermost)).isNotEmpty().isSubsetOf(KNOW_THREADS);
	}

	@Test
	void noClassWritesAnothersFields() {
		assertThat(CLASSES.stream()
			.flatMap((type) -> type.getFieldAccessesFromSelf().stream())
			.filter((access) -> access.getAccessType() == AccessType.SET)
			.filter((access) -> !outermost(access.getOriginOwner()).equals(outermost(access.getTargetOwner())))
			.map(JavaFieldAccess::getDescription)).isEmpty();
	}

	/**
	 * Sets of classes of one package each of which reaches each other one; nested classes
	 * count as their outer one. A sealed type needs those that it permits.
	 */
	private static List<Set<String>> circles() {
		Map<String, Set<String>> reachable = new HashMap<>();
		CLASSES.forEach((type) -> Stream
			.concat(type.getDirectDependenciesFromSelf().stream().map(Dependency::getTargetClass), permitted(type))
			.filter((target) -> target.getPackageName().equals(type.getPackageName()))
			.forEach((target) -> reachable.computeIfAbsent(outermost(type), (name) -> new HashSet<>())
				.add(outermost(target))));
		for (String via : reachable.keySet()) {
			for (Set<String> targets : reachable.values()) {
				if (targets.contains(via)) {
					targets.addAll(List.copyOf(reachable.get(via)));
				}
			}
		}
		return reachable.entrySet()
			.stream()
			.map((entry) -> entry.getValue()
				.stream()
				.filter((target) -> reachable.getOrDefault(target, Set.of()).contains(entry.getKey()))
				.collect(Collectors.toSet()))
			.toList();
	}

	private static Stream<JavaClass> permitted(JavaClass type) {
		Class<?>[] permitted = type.reflect().getPermittedSubclasses();
		return (permitted != null) ? Arrays.stream(permitted).map(CLASSES::get) : Stream.empty();
	}

	private static String outermost(JavaClass type) {
		return type.getName().replaceAll("\\$.*", "");
	}

	private static Set<String> packages(Path module) {
		Path root = module.resolve("src/main/java");
		return Documentation.files(root, ".java")
			.stream()
			.map((source) -> root.relativize(source.getParent()).toString().replace(File.separatorChar, '.'))
			.collect(Collectors.toSet());
	}

	static Stream<String> rooms() {
		return ROOMS.keySet().stream().sorted();
	}

	private static String packageOf(String room) {
		return room.isEmpty() ? ROOT : ROOT + "." + room;
	}

	private static DescribedPredicate<JavaClass> outsideOf(String... packages) {
		return DescribedPredicate
			.not(resideInAnyPackage(Arrays.stream(packages).map((name) -> name + "..").toArray(String[]::new)));
	}

}
