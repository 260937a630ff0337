package io.github.lockspring.benchmarks.contention;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A JVM of ours on the same class path, with which one talks in lines. It ends when its
 * standard input does, and so never outlives this one.
 */
final class JavaProcess implements AutoCloseable {

	private final Process process;

	private final PrintStream input;

	private final BufferedReader output;

	private JavaProcess(Process process) {
		this.process = process;
		this.input = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
		this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
	}

	static JavaProcess start(Class<?> main, String maxHeap, List<String> arguments) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx" + maxHeap, "-cp",
						System.getProperty("java.class.path"), main.getName()));
		command.addAll(arguments);
		return new JavaProcess(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
	}

	void say(String line) {
		this.input.println(line);
	}

	/**
	 * Waits for a line.
	 * @throws IllegalStateException if the process has ended
	 */
	String hear() {
		try {
			String line = this.output.readLine();
			if (line == null) {
				throw new IllegalStateException("A process of the benchmark has died; its reason is above");
			}
			return line;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	Duration cpuTime() {
		return this.process.toHandle().info().totalCpuDuration().orElse(Duration.ZERO);
	}

	@Override
	public void close() {
		this.input.close();
		try {
			if (!this.process.waitFor(10, TimeUnit.SECONDS)) {
				this.process.destroyForcibly();
			}
		}
		catch (InterruptedException ex) {
			this.process.destroyForcibly();
			Thread.currentThread().interrupt();
		}
	}

}
