package io.github.lockspring.lab;

import java.util.List;
import java.util.Map;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import io.github.lockspring.lab.RecipeInfo.Source;
import io.github.lockspring.lab.RecipeInfo.StrikePoints;
import io.github.lockspring.lab.server.Topology;

/**
 * The recipes, with their sources.
 */
final class Recipes {

	private static final String DISTLOCK = "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/";

	private static final StrikePoints ACQUIRE = StrikePoints.of("acquire").renewing("before renew");

	static final List<RecipeInfo> ALL = List.of(naive("setnx-expire-del", "SETNX, then EXPIRE, then DEL",
			"One command takes the lock, and another one gives it its time to live.",
			new Source("Redis in Action, 6.2.5, without its check for a missing timeout",
					"https://redis.io/ebook/part-2-core-concepts/chapter-6-application-components-in-redis/6-2-distributed-locking/6-2-5-locks-with-timeouts"),
			"SetnxExpireDel", StrikePoints.of("SETNX").kill("before PEXPIRE")),
			naive("setnx-getset", "SETNX with a timestamp, then GETSET",
					"The value is the end of the lease by the client's clock. Others compare it with their own clocks and take over.",
					new Source("Redis: SETNX, design pattern", "https://redis.io/docs/latest/commands/setnx/"),
					"SetnxGetset", StrikePoints.of("SETNX")),
			naive("set-nx-del", "SET NX PX, then DEL",
					"One command takes the lock with its time to live. The release deletes it without looking whose it is.",
					new Source("Redis: SET, patterns", "https://redis.io/docs/latest/commands/set/"), "SetNxThenDel",
					StrikePoints.of("SET")),
			naive("compare-in-client", "Random value, GET and compare, then DEL",
					"The release reads the value, compares it in the client, and deletes the key with another command.",
					new Source("Redis: Distributed Locks, why the release has to be a script", DISTLOCK),
					"CompareInClient", StrikePoints.of("SET").releasing("before DEL")),
			naive("compare-and-delete", "Random value, compare and delete in Lua",
					"The release is one script. The time to live is fixed, and nothing renews it.",
					new Source("Redis: Distributed Locks, correct implementation with a single instance", DISTLOCK),
					"CompareAndDelete", StrikePoints.of("SET")),
			naive("blind-renewal", "The same, renewed without comparing",
					"A thread renews with a plain PEXPIRE, also when another shop has the lock by then.",
					new Source("Redis: Distributed Locks, extending the lock (only if the value is the own one)",
							DISTLOCK),
					"BlindRenewal", StrikePoints.of("SET").renewing("before PEXPIRE")),
			naive("orphan-renewal", "The same, renewed beyond the work",
					"A thread renews with a script that compares. It ends with the work, but not with work that throws.",
					new Source("Redis: Distributed Locks, extending the lock", DISTLOCK), "OrphanRenewal",
					StrikePoints.of("SET").renewing("before EVAL")),
			new RecipeInfo("replica", "One master with a replica",
					"Random value and Lua on a master whose replica takes over. Nothing waits for the replica.",
					new Source("Redis: Distributed Locks, why failover-based implementations are not enough", DISTLOCK),
					"CompareAndDelete", false, Topology.REPLICATED, Map.of(), StrikePoints.of("SET")),
			new RecipeInfo("copied-redlock", "Redlock as it is usually copied",
					"Five nodes, asked one after the other; no drift of clocks, and restarted nodes vote at once.",
					new Source("Redis: Distributed Locks, the Redlock algorithm, without its delayed restarts",
							DISTLOCK),
					"CopiedRedlock", false, Topology.REDLOCK, Map.of(), StrikePoints.of("SET")),
			new RecipeInfo("select-for-update", "SELECT … FOR UPDATE",
					"A row of the database is the lock, and the transaction is the lease.",
					new Source("PostgreSQL: explicit locking, row-level locks",
							"https://www.postgresql.org/docs/current/explicit-locking.html"),
					"SelectForUpdate", false, Topology.DATABASE, Map.of(), StrikePoints.of("")),
			new RecipeInfo("version-column", "A version column",
					"No lock: a seat is sold only if its version is still the one that was read.",
					new Source("Martin Fowler: Optimistic Offline Lock",
							"https://martinfowler.com/eaaCatalog/optimisticOfflineLock.html"),
					"VersionColumn", false, Topology.DATABASE, Map.of(), StrikePoints.of("")),
			ours("lockspring", "Lockspring, plain",
					"A method with @DistributedLock, renewed. Nothing checks the lock when the sale is written.",
					"docs/understand/guarantees.md", "Lockspring", Topology.SINGLE, Map.of()),
			ours("lockspring-guard", "Lockspring with the commit guard",
					"The sale is written in a transaction, and a transaction whose lock is known to be lost does not commit.",
					"docs/use/transactions.md", "LockspringGuarded", Topology.SINGLE, Map.of()),
			ours("lockspring-fenced", "Lockspring with fencing",
					"The sale is written under @Fenced: the database refuses an older token. The commit guard is off here.",
					"docs/understand/guarantees.md", "LockspringFenced", Topology.SINGLE,
					Map.of("distributed-lock.transaction.verify-before-commit", "off",
							"distributed-lock.fencing.initialize-schema", "always")),
			ours("lockspring-redlock", "Lockspring with Redlock",
					"Five nodes, asked at once, with its rules on drift and restarts.", "docs/choose/redlock.md",
					"Lockspring", Topology.REDLOCK,
					Map.of("distributed-lock.store", "redlock", "distributed-lock.command-timeout", "500ms")),
			ours("lockspring-replica", "Lockspring with replica acknowledgements",
					"A lock counts when the replica has it (replica-acks=1).",
					"docs/choose/sentinel.md#acknowledgements-of-replicas", "Lockspring", Topology.REPLICATED,
					Map.of("distributed-lock.redis.replica-acks", "1", "distributed-lock.command-timeout", "400ms")));

	private Recipes() {
	}

	private static RecipeInfo naive(String id, String title, String summary, Source source, String type,
			StrikePoints points) {
		return new RecipeInfo(id, title, summary, source, type, false, Topology.SINGLE, Map.of(), points);
	}

	private static RecipeInfo ours(String id, String title, String summary, String url, String type, Topology topology,
			Map<String, String> properties) {
		return new RecipeInfo(id, title, summary, new Source("Lockspring: " + url.replaceAll("#.*", ""), url), type,
				true, topology, properties, ACQUIRE);
	}

}
