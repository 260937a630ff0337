package io.github.lockspring.lab;

import java.util.List;

/**
 * The faults.
 */
final class Faults {

	static final List<Fault> ALL = List.of(new Fault("none", "No fault", "Nothing fails.", "", FaultScripts::none),
			new Fault("killed", "Process killed between two commands",
					"Shop 1 is killed (SIGKILL) at the worst point: after the command that takes the lock, or while its customer pays.",
					"", FaultScripts::killed),
			new Fault("stopped", "Process stopped beyond its lease",
					"Shop 1 is stopped (SIGSTOP) while its customer pays, for longer than its lease, and continues: what a long garbage collection does.",
					"", FaultScripts::stopped),
			new Fault("renewal-starved", "Renewal starved",
					"The thread of shop 1 that renews does not get to run while its customer pays.",
					"This recipe renews nothing.", FaultScripts::renewalStarved),
			new Fault("answer-lost", "Answer lost",
					"Redis executes the command that takes the lock, and the connection breaks before the answer arrives.",
					"The lock is in the database, or on several servers of which a majority answers.",
					FaultScripts::answerLost),
			new Fault("cut", "Network cut",
					"Nothing passes between shop 1 and Redis while its customer pays, for longer than the lease.",
					"The lock is in the database.", FaultScripts::cut),
			new Fault("answers-delayed", "Network delayed in one direction",
					"The answer that shop 1 has the lock is on its way for longer than the lease.",
					"The lock is in the database, or the answers of single nodes do not matter.",
					FaultScripts::answersDelayed),
			new Fault("redis-killed", "Redis killed", "A Redis server is killed, and comes back after 2.6 s.",
					"The lock is in the database.", FaultScripts::redisKilled),
			new Fault("redis-restarted", "Redis restarted empty",
					"Redis is killed and at once started again, without its data, while a customer of shop 1 pays.",
					"The lock is in the database, or on several servers: see the other faults of servers.",
					FaultScripts::redisRestarted),
			new Fault("evicted", "Redis out of memory, evicting",
					"Redis is full, and its policy allkeys-random evicts the lock while a customer of shop 1 pays.",
					"The lock is in the database, or on several servers: see the other faults of servers.",
					FaultScripts::evicted),
			new Fault("replica-promoted", "Replica promoted before it has the key",
					"The master dies when shop 1 has the lock, before its replica has heard of it. The replica takes over.",
					"The recipe has no replica.", FaultScripts::replicaPromoted),
			new Fault("replica-cut", "Replica cut off", "Nothing passes between the master and its replica for 2.6 s.",
					"The recipe has no replica.", FaultScripts::replicaCut),
			new Fault("node-restarted", "A node of five restarted",
					"Shop 1 has the votes of three nodes; one of them is restarted without its data.",
					"The recipe has one server.", FaultScripts::nodeRestarted),
			new Fault("clock-jump", "Clock of one process jumps",
					"The wall clock of shop 2 goes a minute ahead while a customer of shop 1 pays.",
					"The lock is in the database.", FaultScripts::clockJump),
			new Fault("work-outlasts", "Work outlasts the lease",
					"A customer of shop 1 takes 2.6 s to pay; the lease is 1 s.", "", FaultScripts::workOutlasts),
			new Fault("work-fails", "Work fails", "The payment of a customer of shop 1 throws an exception.", "",
					FaultScripts::workFails),
			new Fault("release-late", "Release arrives late",
					"The command of shop 1 that frees the lock is on its way until another shop is inside.",
					"The lock is in the database.", FaultScripts::releaseLate));

	private Faults() {
	}

}
