package io.github.lockspring.model;

import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is explored: who takes part, what may go wrong how often, and which rules apply.
 * Times are in ticks.
 *
 * @param roles of the instances
 * @param faults how often each may happen
 * @param off the rules that do not apply
 * @param options what else happens
 * @param handoffs most local hand-offs in one ownership
 * @param ownerships most ownerships of each instance; 0: any number
 * @param maxIdle for how long the lock may be idle although an instance waits, once
 * nothing goes wrong any more; negative: not checked
 * @param maxKept for how long one owner may hold the lock then although another waits
 */
record Scenario(List<Role> roles, Map<Fault, Integer> faults, Set<Rule> off, Set<Option> options, int handoffs,
		int ownerships, int maxIdle, int maxKept) {

	/** Length of a lease. */
	static final int TTL = 2;

	/** Length of the lease that a hand-over grants. */
	static final int GRANT_TTL = 1;

	/** What a renewal of another length requests. */
	static final int SHORT_TTL = 1;

	/** Time between the attempts of a waiting instance. */
	static final int RETRY_INTERVAL = 1;

	/**
	 * What happens in some scenarios only.
	 */
	enum Option {

		/** Leases are renewed. */
		RENEWALS,
		/** There are also renewals with a shorter TTL. */
		SHORT_RENEWALS,
		/** Waiters give up. */
		GIVING_UP,
		/** The server knows every subscriber, as a single one does. */
		EXACT_COUNT,
		/** Every waiter gets on also while others want the lock again and again. */
		CONTENDED,
		/** Other locks share the last fencing token. */
		OTHER_LOCKS

	}

	static Scenario of(Role... roles) {
		return new Scenario(List.of(roles), Map.of(), Set.of(), Set.of(), 0, 0, -1, 0);
	}

	Scenario with(Fault fault, int times) {
		Map<Fault, Integer> more = new EnumMap<>(Fault.class);
		more.putAll(this.faults);
		more.put(fault, times);
		return new Scenario(this.roles, more, this.off, this.options, this.handoffs, this.ownerships, this.maxIdle,
				this.maxKept);
	}

	Scenario with(Option... more) {
		Set<Option> all = EnumSet.noneOf(Option.class);
		all.addAll(this.options);
		all.addAll(List.of(more));
		return new Scenario(this.roles, this.faults, this.off, all, this.handoffs, this.ownerships, this.maxIdle,
				this.maxKept);
	}

	Scenario without(Rule... rules) {
		return new Scenario(this.roles, this.faults, Set.of(rules), this.options, this.handoffs, this.ownerships,
				this.maxIdle, this.maxKept);
	}

	Scenario withHandoffs(int most) {
		return new Scenario(this.roles, this.faults, this.off, this.options, most, this.ownerships, this.maxIdle,
				this.maxKept);
	}

	Scenario withOwnerships(int most) {
		return new Scenario(this.roles, this.faults, this.off, this.options, this.handoffs, most, this.maxIdle,
				this.maxKept);
	}

	/** Checks from each state that every waiter gets on. */
	Scenario withMaxIdle(int ticks) {
		return withFairRuns(ticks, Byte.MAX_VALUE);
	}

	/** As {@link #withMaxIdle}, and that no owner keeps the lock for long. */
	Scenario withFairRuns(int idle, int kept) {
		return new Scenario(this.roles, this.faults, this.off, this.options, this.handoffs, this.ownerships, idle,
				kept);
	}

	boolean has(Rule rule) {
		return !this.off.contains(rule);
	}

	boolean hasAllOf(Rule... rules) {
		return Collections.disjoint(this.off, List.of(rules));
	}

	boolean has(Option option) {
		return this.options.contains(option);
	}

	/** By how much the server's clock advances at least from one script to the next. */
	int clockStep() {
		return has(Rule.HAND_OFF_LIMIT) ? this.handoffs + 1 : 1;
	}

	/**
	 * What may go wrong, each a limited number of times in one scenario. That anything
	 * takes any amount of time is no fault: it happens in every scenario.
	 */
	enum Fault {

		/** A command, a result or a message is lost, late or doubled. */
		LOSS,
		/** An instance dies. */
		CRASH,
		/** An instance is no longer subscribed to its inbox. */
		SUBSCRIPTION,
		/** The store loses all its data. */
		DATA_LOSS,
		/** The server's clock does not advance between two scripts. */
		CLOCK,
		/** A client without the protocol takes the lock, with {@code SET NX PX}. */
		PLAIN_CLIENT

	}

}
