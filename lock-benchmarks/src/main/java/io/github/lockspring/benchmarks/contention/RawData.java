package io.github.lockspring.benchmarks.contention;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.HdrHistogram.Histogram;

/**
 * Every single run as one line of JSON, written at once.
 */
final class RawData implements AutoCloseable {

	private final BufferedWriter writer;

	RawData(Path file) throws IOException {
		this.writer = Files.newBufferedWriter(file);
	}

	void machine(Machine machine) throws IOException {
		write(new LinkedHashMap<>(machine.facts()));
	}

	void measurement(Measurement run) throws IOException {
		Map<String, Object> line = new LinkedHashMap<>();
		line.put("scenario", run.scenario().id());
		line.put("adapter", run.adapter().id());
		line.put("repetition", run.repetition());
		line.put("seconds", run.seconds());
		line.put("acquisitions", run.measured());
		line.put("rate", run.rate());
		Histogram waits = run.waits();
		line.put("waitP50Micros", waits.getValueAtPercentile(50) / 1000.0);
		line.put("waitP99Micros", waits.getValueAtPercentile(99) / 1000.0);
		line.put("waitMaxMicros", waits.getMaxValue() / 1000.0);
		line.put("jainThreads", run.threadFairness());
		line.put("jainProcesses", run.processFairness());
		line.put("sections", run.sections());
		line.put("violations", run.violations());
		line.put("errors", run.errors());
		line.put("firstError", run.firstError());
		line.put("commandsSent", run.commandsSent());
		line.put("commandsExecuted", run.commandsExecuted());
		line.put("redisMicros", run.redisMicros());
		line.put("serverCpuMicros", run.serverCpuMicros());
		line.put("workerCpuMicros", run.workerCpuMicros());
		line.put("threadCounts", run.threadCounts());
		line.put("processCounts", run.processCounts());
		Map<String, Object> commands = new TreeMap<>();
		run.stats().commands().forEach((name, command) -> commands.put(name, command.calls()));
		line.put("commands", commands);
		write(line);
	}

	private void write(Map<String, Object> line) throws IOException {
		this.writer.write(json(line));
		this.writer.newLine();
		this.writer.flush();
	}

	private static String json(Object value) {
		if (value instanceof Map<?, ?> map) {
			return map.entrySet()
				.stream()
				.map((entry) -> json(String.valueOf(entry.getKey())) + ":" + json(entry.getValue()))
				.collect(Collectors.joining(",", "{", "}"));
		}
		if (value instanceof long[] numbers) {
			return Arrays.toString(numbers).replace(" ", "");
		}
		if (value instanceof Double number) {
			return (number.isNaN() || number.isInfinite()) ? "null" : String.valueOf(Math.round(number * 1e4) / 1e4);
		}
		if (value instanceof Number) {
			return value.toString();
		}
		return "\"" + String.valueOf(value).replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\p{Cntrl}", " ")
				+ "\"";
	}

	@Override
	public void close() throws IOException {
		this.writer.close();
	}

}
