package io.github.lockspring.benchmarks.contention;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Every single run, and the machine, as one line of JSON each, written at once.
 */
public final class RawData implements AutoCloseable {

	private final BufferedWriter writer;

	public RawData(Path file) throws IOException {
		this.writer = Files.newBufferedWriter(file);
	}

	public void write(Map<String, ?> line) throws IOException {
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
