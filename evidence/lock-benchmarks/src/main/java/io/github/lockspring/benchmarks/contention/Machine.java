package io.github.lockspring.benchmarks.contention;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import com.sun.management.OperatingSystemMXBean;

/**
 * Where and with what was measured.
 *
 * @param facts what is known, in the order of the report
 */
public record Machine(Map<String, String> facts) {

	private static final Pattern JAR = Pattern.compile(
			"[/\\\\](lettuce-core|jedis|redisson|spring-integration-redis|spring-integration-jdbc|lock4j-core|shedlock-core|curator-recipes|jetcd-core|zookeeper|spring-data-redis|postgresql|HikariCP)-(\\d[^/\\\\]*)\\.jar");

	/**
	 * Describes this machine.
	 * @param servers the versions of the servers and how they run, by their names
	 * @return the facts
	 */
	public static Machine here(Map<String, String> servers) {
		OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
		Map<String, String> facts = new LinkedHashMap<>();
		facts.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
		facts.put("processor", processor());
		facts.put("cores", String.valueOf(system.getAvailableProcessors()));
		facts.put("memory", Math.round(system.getTotalMemorySize() / (double) (1 << 30)) + " GiB");
		facts.put("load before the run", String.valueOf(system.getSystemLoadAverage()));
		facts.put("system", System.getProperty("os.name") + " " + system.getVersion().replaceFirst("-.*", "") + " "
				+ System.getProperty("os.arch"));
		facts.put("java", System.getProperty("java.vm.name") + " " + Runtime.version());
		facts.putAll(servers);
		facts.put("libraries",
				libraries().entrySet()
					.stream()
					.map((library) -> library.getKey() + " " + library.getValue())
					.collect(Collectors.joining(", ")));
		return new Machine(facts);
	}

	private static String processor() {
		try {
			return Files.readAllLines(Path.of("/proc/cpuinfo"))
				.stream()
				.filter((line) -> line.startsWith("model name"))
				.map((line) -> line.substring(line.indexOf(':') + 1).strip())
				.findFirst()
				.orElse("unknown");
		}
		catch (IOException ex) {
			return "unknown";
		}
	}

	/**
	 * From the names of the jars: not every library says its version in its manifest.
	 */
	private static Map<String, String> libraries() {
		return JAR.matcher(System.getProperty("java.class.path"))
			.results()
			.collect(Collectors.toMap((jar) -> jar.group(1), (jar) -> jar.group(2), (one, other) -> one, TreeMap::new));
	}

	/** Returns the version of a library. */
	static String library(String name) {
		return libraries().getOrDefault(name, "unknown");
	}

}
