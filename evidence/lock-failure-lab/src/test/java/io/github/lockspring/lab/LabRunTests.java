package io.github.lockspring.lab;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;

import io.github.lockspring.lab.history.Code;
import io.github.lockspring.lab.history.LabEvent;
import io.github.lockspring.lab.history.Verdict;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A few cells, for real. {@code FailureLabPage} runs all of them.
 */
class LabRunTests {

	private static final Duration RUN = Duration.ofSeconds(90);

	/** A machine that is too busy for leases of a second changes what a run shows. */
	private static final int TRIES = 3;

	private static Lab lab;

	@BeforeAll
	static void open() {
		lab = new Lab();
	}

	@AfterAll
	static void close() {
		lab.close();
	}

	@Test
	void f09StoppedShopSellsTwiceUnderANaiveLock() {
		LabRun run = runUntil(Catalogue.recipe("set-nx-del").orElseThrow(), "stopped",
				(verdict) -> verdict.why().get(0).contains("Shop 1 sold it again"));
		Verdict verdict = verdict(run);
		assertThat(verdict.code()).as("%s", verdict.why()).isEqualTo(Code.SOLD_TWICE);
		assertThat(verdict.asExpected()).isTrue();
		assertThat(verdict.why().get(0)).contains("Shop 1 sold it again");
		assertThat(verdict.failure()).isEqualTo("F09");
		assertThat(verdict.overlaps()).isNotEmpty();
		assertThat(run.history().from(0)).extracting(LabEvent::type)
			.contains("asked", "acquired", "released", "command", "stopped", "continued", "sold");
		assertThat(run.keys().servers()).singleElement().satisfies((server) -> assertThat(server.up()).isTrue());
	}

	@Test
	void f09StoppedShopIsRefusedByTheCommitGuard() {
		LabRun run = runUntil(Catalogue.recipe("lockspring-guard").orElseThrow(), "stopped", LabRunTests::isPlayed);
		Verdict verdict = verdict(run);
		assertThat(verdict.overlaps()).as("%s", verdict.why()).isEmpty();
		assertThat(run.state(false).sale().soldTwice()).isZero();
		assertThat(run.history().from(0)).filteredOn((event) -> event.is("refused"))
			.extracting(LabEvent::lane)
			.contains("shop-1");
	}

	/** The verdict follows what happens, not what is expected. */
	@Test
	void cellOfARecipeThatWasMadeCorrectTurns() {
		RecipeInfo naive = Catalogue.recipe("set-nx-del").orElseThrow();
		Verdict verdict = verdict(runUntil(with(naive, "CarefulSetNx", Map.of()), "stopped", LabRunTests::isPlayed));
		assertThat(verdict.code()).as("%s", verdict.why()).isNotEqualTo(Code.SOLD_TWICE);
		assertThat(verdict.asExpected()).isFalse();
	}

	/** Each shop has locks of its own here, which exclude no other. */
	@Test
	void cellOfLockspringMadeWrongTurns() {
		RecipeInfo ours = Catalogue.recipe("lockspring").orElseThrow();
		Verdict verdict = verdict(
				runUntil(with(ours, ours.type(), Map.of("distributed-lock.key-prefix", "${random.uuid}:")), "none",
						(each) -> each.code() == Code.SOLD_TWICE));
		assertThat(verdict.code()).as("%s", verdict.why()).isEqualTo(Code.SOLD_TWICE);
		assertThat(verdict.asExpected()).isFalse();
	}

	@Test
	void secondLabRunsBesideTheFirstAndLeavesNothing() {
		RecipeInfo recipe = Catalogue.recipe("select-for-update").orElseThrow();
		Lab other = new Lab();
		Path directory = other.directory();
		List<Long> processes;
		try {
			LabRun here = begin(recipe, "none", lab);
			LabRun there = runUntil(recipe, "none", other, LabRunTests::isSafe);
			if (!isSafe(verdict(here))) {
				here = runUntil(recipe, "none", LabRunTests::isSafe);
			}
			assertThat(verdict(here).code()).isEqualTo(Code.SAFE);
			assertThat(verdict(there).code()).isEqualTo(Code.SAFE);
			processes = there.state(false).lanes().stream().map(RunState.Lane::pid).filter(Objects::nonNull).toList();
			assertThat(processes).isNotEmpty();
			assertThat(directory).exists();
		}
		finally {
			other.close();
		}
		await().until(() -> processes.stream().flatMap((pid) -> ProcessHandle.of(pid).stream()).toList().isEmpty());
		await().until(() -> Files.notExists(directory));
	}

	@Test
	void cancelledRunEndsAtOnceAndTheNextOneStarts() {
		LabRun run = begin(Catalogue.recipe("set-nx-del").orElseThrow(), "work-outlasts", lab);
		await().atMost(RUN).until(() -> run.history().size() > 10);
		assertThat(lab.start("set-nx-del", "none", 2)).as("one run at a time").isEmpty();
		lab.cancel(run.id());
		assertThat(verdict(run).code()).isEqualTo(Code.CANCELLED);
		LabRun next = runUntil(Catalogue.recipe("select-for-update").orElseThrow(), "none", LabRunTests::isSafe);
		assertThat(verdict(next).code()).isEqualTo(Code.SAFE);
	}

	/** At once, and while its processes and servers start. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 40 })
	void runThatHasNotBegunIsCancelledToo(int millis) throws InterruptedException {
		LabRun run = begin(Catalogue.recipe("setnx-expire-del").orElseThrow(), "killed", lab);
		Thread.sleep(millis);
		lab.cancel(run.id());
		assertThat(verdict(run).code()).isEqualTo(Code.CANCELLED);
	}

	private static RecipeInfo with(RecipeInfo recipe, String type, Map<String, String> more) {
		Map<String, String> properties = new HashMap<>(recipe.properties());
		properties.putAll(more);
		return new RecipeInfo(recipe.id(), recipe.title(), recipe.summary(), recipe.source(), type, recipe.ours(),
				recipe.topology(), properties, recipe.points());
	}

	/** The first run with such a verdict, or the last of a few. */
	private static LabRun runUntil(RecipeInfo recipe, String fault, Predicate<Verdict> wanted) {
		return runUntil(recipe, fault, lab, wanted);
	}

	private static LabRun runUntil(RecipeInfo recipe, String fault, Lab lab, Predicate<Verdict> wanted) {
		LabRun run = begin(recipe, fault, lab);
		for (int tries = 1; tries < TRIES && !wanted.test(verdict(run)); tries++) {
			run = begin(recipe, fault, lab);
		}
		return run;
	}

	/** The first shop got its turn. */
	private static boolean isPlayed(Verdict verdict) {
		return verdict.code() != Code.FAILED;
	}

	/** Without a sale for two seconds it would be stuck. */
	private static boolean isSafe(Verdict verdict) {
		return verdict.code() == Code.SAFE;
	}

	private static LabRun begin(RecipeInfo recipe, String fault, Lab lab) {
		return lab.begin(recipe, Catalogue.cell(recipe.id(), fault).orElseThrow(), 2);
	}

	private static Verdict verdict(LabRun run) {
		await().atMost(RUN).until(run::isFinished);
		Verdict verdict = run.verdict();
		assertThat(verdict).isNotNull();
		return verdict;
	}

}
