package io.github.lockspring.lab.worker;

import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reports the events of this process to the lab, one line of JSON for each. Thread-safe.
 */
final class Reporter {

	private final JsonMapper json;

	private final PrintStream out;

	Reporter(JsonMapper json, PrintStream out) {
		this.json = json;
		this.out = out;
	}

	/**
	 * Reports an event that happens now. {@code System.nanoTime()} counts from the start
	 * of the machine on Linux and macOS (CLOCK_MONOTONIC, mach_absolute_time), so times
	 * of different processes can be compared.
	 * @param type the type of the event
	 * @param details names and values; null values are left out
	 */
	void report(String type, @Nullable Object... details) {
		Map<String, Object> event = new LinkedHashMap<>();
		event.put("type", type);
		event.put("at", System.nanoTime());
		for (int i = 0; i < details.length; i += 2) {
			Object value = details[i + 1];
			if (value != null) {
				event.put(String.valueOf(details[i]), value);
			}
		}
		this.out.println(this.json.writeValueAsString(event));
	}

}
