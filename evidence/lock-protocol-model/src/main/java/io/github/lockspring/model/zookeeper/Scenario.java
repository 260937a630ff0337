package io.github.lockspring.model.zookeeper;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * What is explored. Times are in ticks.
 *
 * @param instances number of instances
 * @param tokens most owner tokens of each instance, one after the other
 * @param timeout of a session
 * @param reports whether a server tells the leader later what it has heard of a session;
 * then a tick is a sixth of the timeout
 * @param faults how often each may happen
 * @param options what else happens
 * @param off the rules that do not apply
 */
record Scenario(int instances, int tokens, int timeout, boolean reports, Map<Fault, Integer> faults,
		Set<Option> options, Set<Rule> off) {

	/**
	 * What happens in some scenarios only.
	 */
	enum Option {

		/** Nodes are checked, which proves the session. */
		CHECKS,
		/** Callers give up. */
		GIVING_UP

	}

	static Scenario of(int instances, int tokens, int timeout) {
		return new Scenario(instances, tokens, timeout, false, Map.of(), Set.of(), Set.of());
	}

	/**
	 * Servers report what they hear of a session within less than two of its six ticks.
	 */
	static Scenario withReports() {
		return new Scenario(2, 1, 6, true, Map.of(), Set.of(), Set.of());
	}

	Scenario with(Fault fault, int times) {
		Map<Fault, Integer> more = new EnumMap<>(Fault.class);
		more.putAll(this.faults);
		more.put(fault, times);
		return new Scenario(this.instances, this.tokens, this.timeout, this.reports, more, this.options, this.off);
	}

	Scenario with(Option option) {
		Set<Option> more = EnumSet.of(option);
		more.addAll(this.options);
		return new Scenario(this.instances, this.tokens, this.timeout, this.reports, this.faults, more, this.off);
	}

	Scenario without(Rule... rules) {
		Set<Rule> more = EnumSet.noneOf(Rule.class);
		more.addAll(this.off);
		more.addAll(Set.of(rules));
		return new Scenario(this.instances, this.tokens, this.timeout, this.reports, this.faults, this.options, more);
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

}
