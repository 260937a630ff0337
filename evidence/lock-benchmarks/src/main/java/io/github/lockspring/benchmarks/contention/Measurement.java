package io.github.lockspring.benchmarks.contention;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;

import io.github.lockspring.benchmarks.adapter.AdapterKind;
import org.HdrHistogram.Histogram;

/**
 * One run, as all processes and the server saw it.
 *
 * @param scenario the scenario
 * @param adapter whose lock
 * @param repetition number of the repetition, from 1
 * @param seconds the measured time
 * @param answers the answers of the processes
 * @param counted the sections that the shared memory counted
 * @param stats what Redis did during the whole run
 * @param serverSeconds CPU time of ZooKeeper or etcd during the whole run, if it was used
 */
record Measurement(Scenario scenario, AdapterKind adapter, int repetition, double seconds, List<Answer> answers,
		long counted, CommandStats stats, double serverSeconds) {

	double rate() {
		return measured() / this.seconds;
	}

	/**
	 * Sections that began in the measured time.
	 */
	long measured() {
		return LongStream.of(threadCounts()).sum();
	}

	/**
	 * Sections of the whole run; commands and CPU time are divided by these.
	 */
	long sections() {
		return this.answers.stream().mapToLong(Answer::sections).sum();
	}

	/**
	 * Sections that were not alone, and updates that were lost.
	 */
	long violations() {
		long seen = this.answers.stream().mapToLong(Answer::violations).sum();
		return seen + Math.abs(sections() - this.counted);
	}

	long errors() {
		return this.answers.stream().mapToLong(Answer::errors).sum();
	}

	String firstError() {
		return this.answers.stream().map(Answer::firstError).filter((error) -> !error.isEmpty()).findFirst().orElse("");
	}

	Histogram waits() {
		Histogram waits = Answer.newHistogram();
		this.answers.forEach((answer) -> waits.add(answer.waits()));
		return waits;
	}

	double threadFairness() {
		return Jain.index(threadCounts());
	}

	double processFairness() {
		return Jain.index(processCounts());
	}

	long[] threadCounts() {
		return this.answers.stream().flatMapToLong((answer) -> LongStream.of(answer.counts())).toArray();
	}

	long[] processCounts() {
		return this.answers.stream().mapToLong((answer) -> LongStream.of(answer.counts()).sum()).toArray();
	}

	double commandsSent() {
		return (double) this.stats.sent(this.adapter.directCommands()).calls() / sections();
	}

	double commandsExecuted() {
		return (double) this.stats.executed() / sections();
	}

	/**
	 * Redis' own time for one lock, acquired and released, in microseconds.
	 */
	double redisMicros() {
		return (double) this.stats.sent(this.adapter.directCommands()).micros() / sections();
	}

	/**
	 * CPU time of the server's process for one lock, in microseconds: Redis', ZooKeeper's
	 * or etcd's; it is not known of PostgreSQL.
	 */
	double serverCpuMicros() {
		double seconds = (this.adapter.server() == AdapterKind.Server.REDIS) ? this.stats.cpuSeconds()
				: this.serverSeconds;
		return seconds * 1e6 / sections();
	}

	double workerCpuMicros() {
		return this.answers.stream().mapToLong(Answer::cpuNanos).sum() / 1e3 / sections();
	}

	Map<String, Object> toMap() {
		Map<String, Object> line = new LinkedHashMap<>();
		line.put("scenario", this.scenario.id());
		line.put("adapter", this.adapter.id());
		line.put("repetition", this.repetition);
		line.put("seconds", this.seconds);
		line.put("acquisitions", measured());
		line.put("rate", rate());
		Histogram waits = waits();
		line.put("waitP50Micros", waits.getValueAtPercentile(50) / 1000.0);
		line.put("waitP99Micros", waits.getValueAtPercentile(99) / 1000.0);
		line.put("waitMaxMicros", waits.getMaxValue() / 1000.0);
		line.put("jainThreads", threadFairness());
		line.put("jainProcesses", processFairness());
		line.put("sections", sections());
		line.put("violations", violations());
		line.put("errors", errors());
		line.put("firstError", firstError());
		line.put("commandsSent", commandsSent());
		line.put("commandsExecuted", commandsExecuted());
		line.put("redisMicros", redisMicros());
		line.put("serverCpuMicros", serverCpuMicros());
		line.put("workerCpuMicros", workerCpuMicros());
		line.put("threadCounts", threadCounts());
		line.put("processCounts", processCounts());
		Map<String, Object> commands = new TreeMap<>();
		this.stats.commands().forEach((name, command) -> commands.put(name, command.calls()));
		line.put("commands", commands);
		return line;
	}

}
