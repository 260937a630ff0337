package io.github.lockspring.testsupport;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * A main class of the tests in a small JVM of its own, so that it can be stopped and
 * killed. The test talks with it over its standard streams, a line for a line. Does not
 * outlive this JVM. Not thread-safe, except for {@link #kill()} and
 * {@link #signal(String)}.
 */
public final class JavaProcess implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final String END = "";

	private static @Nullable Process shell;

	private final String name;

	private final Path log;

	private final Process process;

	private final BufferedWriter in;

	private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

	private final Thread killer;

	/**
	 * Starts a process. Does not wait for anything.
	 * @param name its name
	 * @param directory where its log is written
	 * @param main the main class
	 * @param arguments its arguments
	 */
	public JavaProcess(String name, Path directory, Class<?> main, List<String> arguments) {
		this.name = name;
		this.log = directory.resolve(name + ".log");
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m", "-Xss256k",
						"-XX:+UseSerialGC", "-Xshare:auto", "-XX:TieredStopAtLevel=1",
						"-Dlogback.configurationFile=io/github/lockspring/testsupport/process-logback.xml"));
		command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
		command.addAll(arguments);
		try {
			this.process = new ProcessBuilder(command).redirectError(this.log.toFile()).start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		// one that stands still does not see that the test is gone
		this.killer = new Thread(this.process::destroyForcibly);
		Runtime.getRuntime().addShutdownHook(this.killer);
		this.in = this.process.outputWriter(StandardCharsets.UTF_8);
		Thread reader = new Thread(this::read, "process-" + name);
		reader.setDaemon(true);
		reader.start();
	}

	private void read() {
		try (BufferedReader out = this.process.inputReader(StandardCharsets.UTF_8)) {
			String line;
			while ((line = out.readLine()) != null) {
				this.lines.add(line);
			}
		}
		catch (IOException ex) {
			// it was killed
		}
		this.lines.add(END);
	}

	public String name() {
		return this.name;
	}

	/**
	 * Says something to the process.
	 */
	public void say(String line) {
		try {
			this.in.write(line);
			this.in.newLine();
			this.in.flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Asks for something and waits for the answer.
	 */
	public String ask(String request) {
		say(request);
		return next();
	}

	/**
	 * Waits for a line that begins with the given word, and gives the rest of it.
	 */
	public String await(String word) {
		while (true) {
			String line = next();
			if (line.equals(word)) {
				return "";
			}
			if (line.startsWith(word + " ")) {
				return line.substring(word.length() + 1);
			}
		}
	}

	private String next() {
		try {
			String line = this.lines.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
			if (line == null || line.equals(END)) {
				throw new AssertionError("Process " + this.name + ((line == null) ? " says nothing" : " has ended")
						+ "; see " + this.log);
			}
			return line;
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Waits until the process has ended by itself.
	 */
	public void awaitEnd() throws InterruptedException {
		if (!this.process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS) || this.process.exitValue() != 0) {
			throw new AssertionError("Process " + this.name + " did not end properly: "
					+ (this.process.isAlive() ? "a thread was left behind" : this.process.exitValue()) + "; see "
					+ this.log);
		}
	}

	/**
	 * Sends a signal; when this returns it has been sent.
	 * @param signal its name, such as STOP or CONT
	 */
	public void signal(String signal) {
		String answer = shell("kill -" + signal + ' ' + this.process.pid() + "; echo $?");
		if (!answer.equals("0")) {
			throw new IllegalStateException("kill -" + signal + " failed for process " + this.name);
		}
	}

	// a shell that waits for commands is there at once, while a new process takes
	// milliseconds
	private static synchronized String shell(String command) {
		try {
			Process shell = JavaProcess.shell;
			if (shell == null) {
				shell = new ProcessBuilder("sh").redirectError(ProcessBuilder.Redirect.INHERIT).start();
				JavaProcess.shell = shell;
			}
			shell.outputWriter().write(command + '\n');
			shell.outputWriter().flush();
			return shell.inputReader().readLine();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * SIGKILL; returns when the process is gone.
	 */
	public void kill() {
		this.process.destroyForcibly();
		this.process.onExit().join();
	}

	@Override
	public void close() {
		kill();
		try {
			Runtime.getRuntime().removeShutdownHook(this.killer);
		}
		catch (IllegalStateException ex) {
			// this JVM is ending
		}
	}

}
