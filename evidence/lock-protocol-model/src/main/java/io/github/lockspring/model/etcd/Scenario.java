package io.github.lockspring.model.etcd;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * What is explored: how many take part, what may go wrong how often, and which rules
 * apply. Times are in ticks.
 *
 * @param locks number of locks
 * @param instances number of instances
 * @param tokens most owner tokens of each instance and lock, one after the other
 * @param ttl length of a hold and of the lease of the instance
 * @param faults how often each may happen
 * @param options what else happens
 * @param off the rules that do not apply
 */
record Scenario(int locks, int instances, int tokens, int ttl, Map<Fault, Integer> faults, Set<Option> options,
		Set<Rule> off) {

	/**
	 * What happens in some scenarios only.
	 */
	enum Option {

		/** Leases and holds are renewed. */
		RENEWALS,
		/** Callers give up. */
		GIVING_UP,
		/**
		 * Entries are added on a lease of one tick, and raised to one of the full length.
		 */
		RAISES,
		/** Each attempt of a token may name either of two leases. */
		TWO_LENGTHS,
		/** A hold may end with an entry that is kept for a tick ({@code minHold}). */
		KEEPS,
		/** That a lease which lives is taken for lost is no violation. */
		FALSE_LOSSES,
		/** All instances but one want the first lock only. */
		ONE_RIVALRY

	}

	static Scenario of(int instances, int tokens, int ttl) {
		return new Scenario(1, instances, tokens, ttl, Map.of(), Set.of(), Set.of());
	}

	Scenario withLocks(int number) {
		return new Scenario(number, this.instances, this.tokens, this.ttl, this.faults, this.options, this.off);
	}

	Scenario with(Fault fault, int times) {
		Map<Fault, Integer> more = new EnumMap<>(Fault.class);
		more.putAll(this.faults);
		more.put(fault, times);
		return new Scenario(this.locks, this.instances, this.tokens, this.ttl, more, this.options, this.off);
	}

	Scenario with(Option option) {
		Set<Option> more = EnumSet.of(option);
		more.addAll(this.options);
		return new Scenario(this.locks, this.instances, this.tokens, this.ttl, this.faults, more, this.off);
	}

	Scenario without(Rule... rules) {
		Set<Rule> more = EnumSet.noneOf(Rule.class);
		more.addAll(this.off);
		more.addAll(Set.of(rules));
		return new Scenario(this.locks, this.instances, this.tokens, this.ttl, this.faults, this.options, more);
	}

	boolean has(Rule rule) {
		return !this.off.contains(rule);
	}

	boolean has(Option option) {
		return this.options.contains(option);
	}

	int times(Fault fault) {
		return this.faults.getOrDefault(fault, 0);
	}

	/** Number of names in the queues of all locks. */
	int places() {
		return this.instances * this.locks;
	}

	int place(int instance, int lock) {
		return instance * this.locks + lock;
	}

	/** Returns the lock in whose queue a place is. */
	int lock(int place) {
		return place % this.locks;
	}

	/** Most owner tokens of an instance for a lock. */
	int tokens(int instance, int lock) {
		return (instance > 0 && lock > 0 && has(Option.ONE_RIVALRY)) ? 0 : this.tokens;
	}

	/**
	 * Length of a lease: those of entries at first, or that to which holds are raised.
	 */
	int ttl(LeaseKind kind) {
		return (kind != LeaseKind.RAISED && has(Option.RAISES)) ? 1 : this.ttl;
	}

}
