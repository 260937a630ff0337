package io.github.lockspring.lab;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.github.lockspring.lab.history.Code;
import org.jspecify.annotations.Nullable;

/**
 * The outcomes that theory expects of each recipe under each fault.
 */
final class Cells {

	/** What is the same with a replica: {@code replica} is this recipe on two servers. */
	private static final String COPY = "replica";

	private static final List<String> FIXED = List.of("setnx-expire-del", "setnx-getset", "set-nx-del",
			"compare-in-client", "compare-and-delete");

	private static final List<String> RENEWED = List.of("blind-renewal", "orphan-renewal");

	private static final List<String> NAIVE = both(FIXED, RENEWED);

	private static final List<String> ON_ONE_SERVER = List.of("lockspring", "lockspring-guard", "lockspring-fenced");

	private static final List<String> OURS = both(ON_ONE_SERVER, List.of("lockspring-redlock", "lockspring-replica"));

	private static final List<String> REFUSING = List.of("lockspring-guard", "lockspring-fenced");

	private static final String TOLD = "The holder is told that its lock is lost, but nothing keeps it from writing: a lock is a lease. The commit guard and fencing do.";

	private static final String REFUSED = "The holder writes too late, and its transaction is refused.";

	private static final String VERSION = "Two shops offer the same seat, and the database refuses the later sale. Nothing is locked, so nothing can be lost.";

	static final List<Cell> ALL = new Cells().all();

	private final List<Cell> cells = new ArrayList<>();

	private Cells() {
	}

	private static List<String> both(List<String> one, List<String> other) {
		List<String> all = new ArrayList<>(one);
		all.addAll(other);
		return List.copyOf(all);
	}

	private List<Cell> all() {
		processes();
		work();
		networks();
		servers();
		severalServers();
		for (String fault : List.of("none", "killed", "stopped", "work-outlasts", "work-fails")) {
			add(List.of("version-column"), fault, Code.REFUSED, null, VERSION);
		}
		List<String> recipes = Recipes.ALL.stream().map(RecipeInfo::id).toList();
		List<String> faults = Faults.ALL.stream().map(Fault::id).toList();
		this.cells.sort(Comparator.comparingInt((Cell cell) -> recipes.indexOf(cell.recipe()))
			.thenComparingInt((cell) -> faults.indexOf(cell.fault())));
		return List.copyOf(this.cells);
	}

	private void processes() {
		List<String> excluding = Recipes.ALL.stream()
			.map(RecipeInfo::id)
			.filter((recipe) -> !recipe.equals("version-column"))
			.toList();
		add(excluding, "none", Code.SAFE, null, "The lock excludes as long as nothing fails.");
		add(List.of("setnx-expire-del"), "killed", Code.STUCK, "F01",
				"The key has no time to live yet, so the lock is never free again.");
		add(both(NAIVE.subList(1, NAIVE.size()), both(OURS, List.of("copied-redlock"))), "killed", Code.SAFE, "F02",
				"The lock ends with its lease, and another shop takes it.");
		add(List.of(COPY), "killed", Code.SAFE, "F02", "The lock ends with its lease, and another shop takes it.");
		add(List.of("select-for-update"), "killed", Code.SAFE, "F02",
				"The connection breaks, and the database rolls the transaction back.");
		add(both(NAIVE, List.of(COPY, "copied-redlock")), "stopped", Code.SOLD_TWICE, "F09",
				"The lease ends while the process is stopped, and another shop takes the lock. The stopped one does not know it and goes on.");
		add(List.of("select-for-update"), "stopped", Code.STUCK, "F09",
				"A transaction has no lease: no shop sells while the process is stopped, and nothing is sold twice.");
		add(List.of("lockspring", "lockspring-redlock", "lockspring-replica"), "stopped", Code.SOLD_TWICE, "F09", TOLD);
		add(REFUSING, "stopped", Code.REFUSED, "F09", REFUSED);
		add(RENEWED, "renewal-starved", Code.SOLD_TWICE, "F07",
				"Nothing is renewed, the lease ends, and the holder does not know it.");
		add(List.of("lockspring", "lockspring-redlock", "lockspring-replica"), "renewal-starved", Code.SOLD_TWICE,
				"F07", TOLD);
		add(REFUSING, "renewal-starved", Code.REFUSED, "F07", REFUSED);
		add(List.of("setnx-getset"), "clock-jump", Code.SOLD_TWICE, "F17",
				"Shop 2 compares the end of the lease with its own clock, and takes over a lock that is held.");
		List<String> withoutClock = new ArrayList<>(both(NAIVE, both(OURS, List.of(COPY, "copied-redlock"))));
		withoutClock.remove("setnx-getset");
		add(withoutClock, "clock-jump", Code.SAFE, "F17",
				"The recipe reads no wall clock of its process: the server counts the time to live, and the process measures what has passed.");
	}

	private void work() {
		add(both(FIXED, List.of(COPY, "copied-redlock")), "work-outlasts", Code.SOLD_TWICE, "F03",
				"The lease is over before the work is, and another shop takes the lock.");
		add(both(RENEWED, OURS), "work-outlasts", Code.SAFE, "F03", "The lease is renewed while the work runs.");
		add(List.of("select-for-update"), "work-outlasts", Code.SAFE, "F03", "A transaction has no lease.");
		add(both(FIXED, both(OURS, List.of("blind-renewal", COPY, "copied-redlock", "select-for-update"))),
				"work-fails", Code.SAFE, "F02", "The lock is released on the way out of the work.");
		add(List.of("orphan-renewal"), "work-fails", Code.STUCK, "F08",
				"The work is over, but its renewal is not, so the lock is never free again.");
		add(List.of("setnx-expire-del", "setnx-getset", "set-nx-del"), "release-late", Code.SOLD_TWICE, "F04",
				"The late DEL deletes the lock of the next holder, and a third one takes it.");
		add(List.of("compare-in-client"), "release-late", Code.SOLD_TWICE, "F05",
				"The lock changes hands between the comparison and DEL.");
		add(both(both(List.of("compare-and-delete", COPY, "copied-redlock"), RENEWED), OURS), "release-late", Code.SAFE,
				"F04", "The release compares the value, and leaves the next holder's lock alone.");
	}

	private void networks() {
		add(List.of("setnx-expire-del"), "answer-lost", Code.STUCK, "F20",
				"The shop does not know that it has the lock, and never sends EXPIRE.");
		add(both(NAIVE.subList(1, NAIVE.size()), both(ON_ONE_SERVER, List.of(COPY, "lockspring-replica"))),
				"answer-lost", Code.SAFE, "F20", "The lock is free again at the end of its lease at the latest.");
		add(both(FIXED, List.of(COPY)), "cut", Code.SOLD_TWICE, "F03",
				"The lease ends while the customer pays, and nothing tells the shop.");
		add(RENEWED, "cut", Code.SOLD_TWICE, "F07", "The renewal does not arrive, and nothing tells the holder.");
		add(List.of("lockspring", "lockspring-redlock", "lockspring-replica"), "cut", Code.SOLD_TWICE, "F07", TOLD);
		add(REFUSING, "cut", Code.REFUSED, "F07", REFUSED);
		add(List.of("setnx-expire-del"), "answers-delayed", Code.STUCK, "F20",
				"The shop waits for the answer before it sends EXPIRE, and so do all others.");
		add(both(NAIVE.subList(1, NAIVE.size()), List.of(COPY)), "answers-delayed", Code.SOLD_TWICE, "F20",
				"The shop counts its lease from the answer; the lock was taken long before, and is another shop's by then.");
		add(both(ON_ONE_SERVER, List.of("lockspring-redlock", "lockspring-replica")), "answers-delayed", Code.SAFE,
				"F20", "A lease counts from before the command was sent, and no late answer revives it.");
	}

	private void servers() {
		add(both(NAIVE, both(ON_ONE_SERVER, List.of(COPY, "lockspring-replica"))), "redis-killed", Code.UNAVAILABLE,
				"F22", "Without Redis there is no lock, and nothing is sold.");
		add(List.of("copied-redlock", "lockspring-redlock"), "redis-killed", Code.SAFE, "F12",
				"Four of five nodes are a majority.");
		for (String fault : List.of("redis-restarted", "evicted")) {
			add(NAIVE, fault, Code.SOLD_TWICE, "F10",
					"The lock is gone while its holder works, and another shop takes it.");
			add(List.of("lockspring"), fault, Code.SOLD_TWICE, "F10", TOLD);
			add(REFUSING, fault, Code.REFUSED, Code.TWO_HOLDERS, "F10",
					"Without the key, two shops may hold the lock until the next renewal. The late write is refused, and nothing is sold twice.");
		}
	}

	private void severalServers() {
		add(List.of("replica"), "replica-promoted", Code.SOLD_TWICE, "F11",
				"The promoted replica does not know the lock, and gives it to the next shop.");
		add(List.of("lockspring-replica"), "replica-promoted", Code.SAFE, "F11",
				"A lock that the replica does not have is not granted.");
		add(List.of(COPY), "replica-cut", Code.SAFE, "F11",
				"Nothing waits for the replica, so the cut is not noticed, and nothing is lost as long as the master lives.");
		add(List.of("lockspring-replica"), "replica-cut", Code.UNAVAILABLE, "F11",
				"A lock that the replica does not have is not granted: nothing is sold until the replica is back.");
		add(List.of("copied-redlock"), "node-restarted", Code.SOLD_TWICE, "F14",
				"The restarted node votes a second time, so two shops have a majority.");
		add(List.of("lockspring-redlock"), "node-restarted", Code.SAFE, "F14",
				"A node that was restarted does not vote until the longest lease is over.");
	}

	private void add(List<String> recipes, String fault, Code expected, @Nullable String failure, String theory) {
		add(recipes, fault, expected, null, failure, theory);
	}

	private void add(List<String> recipes, String fault, Code expected, @Nullable Code alternative,
			@Nullable String failure, String theory) {
		for (String recipe : recipes) {
			this.cells.add(new Cell(recipe, fault, expected, alternative, theory, failure));
		}
	}

}
