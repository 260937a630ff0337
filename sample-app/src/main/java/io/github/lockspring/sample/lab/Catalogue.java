package io.github.lockspring.sample.lab;

import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.github.lockspring.sample.lab.RecipeInfo.Source;
import io.github.lockspring.sample.lab.RecipeInfo.StrikePoints;
import io.github.lockspring.sample.lab.history.Code;
import io.github.lockspring.sample.lab.server.Topology;

/**
 * The recipes, the faults, and what theory expects of each pair.
 */
final class Catalogue {

	static final List<RecipeInfo> RECIPES = List.of(new RecipeInfo("set-nx-del", "SET NX PX, then DEL",
			"One command takes the lock with its time to live. The release deletes it without looking whose it is.",
			new Source("Redis: SET, \"Patterns\"", "https://redis.io/docs/latest/commands/set/"), "SetNxThenDel", false,
			Topology.SINGLE, Map.of(), StrikePoints.of("SET")),
			new RecipeInfo("lockspring", "Lockspring, plain",
					"A method with @DistributedLock, renewed. Nothing checks the lock when the sale is written.",
					new Source("Lockspring: the first lock", "README.md"), "Lockspring", true, Topology.SINGLE,
					Map.of(), StrikePoints.of("acquire")));

	static final List<Fault> FAULTS = List
		.of(new Fault("none", "No fault", "Nothing fails.", "", FaultScripts::none), new Fault("stopped",
				"Process stopped beyond its lease",
				"Shop 1 is stopped (SIGSTOP) while its customer pays, for longer than its lease, and continues: what a long garbage collection does.",
				"", FaultScripts::stopped));

	static final List<Cell> CELLS = List.of(
			new Cell("set-nx-del", "none", Code.SAFE, "The lock excludes as long as nothing fails.", null),
			new Cell("set-nx-del", "stopped", Code.SOLD_TWICE,
					"The key expires while the process is stopped, and another shop takes the lock. The stopped one does not know it and goes on.",
					"F09"),
			new Cell("lockspring", "none", Code.SAFE, "The lock excludes.", null),
			new Cell("lockspring", "stopped", Code.SOLD_TWICE,
					"The holder is told that its lock is lost as soon as it runs again, but nothing keeps it from writing: a lock is a lease. The commit guard and fencing do.",
					"F09"));

	private Catalogue() {
	}

	static Optional<RecipeInfo> recipe(String id) {
		return RECIPES.stream().filter((recipe) -> recipe.id().equals(id)).findFirst();
	}

	static Optional<Fault> fault(String id) {
		return FAULTS.stream().filter((fault) -> fault.id().equals(id)).findFirst();
	}

	static Optional<Cell> cell(String recipe, String fault) {
		return CELLS.stream().filter((cell) -> cell.recipe().equals(recipe) && cell.fault().equals(fault)).findFirst();
	}

}
