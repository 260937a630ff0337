package io.github.lockspring.testsupport.process;

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
 * A main class in a JVM of its own, on the class path of this JVM, so that it can be
 * stopped and killed. It talks with this JVM over its standard streams, one line at a
 * time; see {@link Conversation} for the other end. It does not outlive this JVM. Not
 * thread-safe, except for {@link #kill()}, {@link #close()} and {@link #signal(String)}.
 *
 * @since 0.1
 */
public final class JavaProcess implements AutoCloseable {

	/** Options of a JVM that starts fast and needs little memory. */
	public static final List<String> SMALL = List.of("-Xmx64m", "-Xss256k", "-XX:+UseSerialGC", "-Xshare:auto",
			"-XX:TieredStopAtLevel=1",
			"-Dlogback.configurationFile=io/github/lockspring/testsupport/process/logback.xml");

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private static final String END = "";

	/**
	 * Waits until a process has stopped; one that has ended meanwhile has another state,
	 * or none.
	 */
	private static final String STOPPED = " && while case $({ cut -d ' ' -f 3 /proc/%1$d/stat"
			+ " || ps -o stat= -p %1$d; } 2> /dev/null) in T*|Z*|'') false;; esac; do :; done";

	private static @Nullable Process shell;

	private final String name;

	private final Path log;

	private final Process process;

	private final BufferedWriter in;

	private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

	private final Thread killer;

	/**
	 * Starts a small JVM. Returns at once.
	 * @param name the name of the process
	 * @param directory where its standard error is written, to {@code <name>.log}
	 * @param main the main class
	 * @param arguments its arguments
	 */
	public JavaProcess(String name, Path directory, Class<?> main, List<String> arguments) {
		this(name, directory, SMALL, main, arguments);
	}

	/**
	 * Starts a JVM. Returns at once.
	 * @param name the name of the process
	 * @param directory where its standard error is written, to {@code <name>.log}
	 * @param options options of the JVM
	 * @param main the main class
	 * @param arguments its arguments
	 */
	public JavaProcess(String name, Path directory, List<String> options, Class<?> main, List<String> arguments) {
		this.name = name;
		this.log = directory.resolve(name + ".log");
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(options);
		command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
		command.addAll(arguments);
		try {
			this.process = new ProcessBuilder(command).redirectError(this.log.toFile()).start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		// a stopped process does not notice that this JVM has ended
		this.killer = new Thread(this.process::destroyForcibly);
		Runtime.getRuntime().addShutdownHook(this.killer);
		this.in = this.process.outputWriter(StandardCharsets.UTF_8);
		Thread reader = new Thread(this::read, "process-" + name);
		reader.setDaemon(true);
		reader.start();
	}

	private void read() {
		try (BufferedReader out = this.process.inputReader(StandardCharsets.UTF_8)) {
			out.lines().forEach(this.lines::add);
		}
		catch (IOException | UncheckedIOException ex) {
			// the process was killed
		}
		this.lines.add(END);
	}

	/** Returns the name of the process. */
	public String name() {
		return this.name;
	}

	/** Returns the CPU time that the process has used, or zero if it is not known. */
	public Duration cpuTime() {
		return this.process.info().totalCpuDuration().orElse(Duration.ZERO);
	}

	/** Returns whether the process runs. */
	public boolean isAlive() {
		return this.process.isAlive();
	}

	/** Sends a line to the process. */
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

	/** Sends a line and returns the next line of the process. */
	public String ask(String request) {
		say(request);
		return hear(PATIENCE);
	}

	/** Waits for a line that begins with the given word, and returns the rest of it. */
	public String await(String word) {
		while (true) {
			String line = hear(PATIENCE);
			if (line.equals(word)) {
				return "";
			}
			if (line.startsWith(word + " ")) {
				return line.substring(word.length() + 1);
			}
		}
	}

	/**
	 * Waits for the next line of the process.
	 * @param patience how long to wait at most
	 * @throws AssertionError if no line has come in time, or the process has ended
	 */
	public String hear(Duration patience) {
		try {
			String line = this.lines.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
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

	/** Waits until the process has ended with status 0, without being killed. */
	public void awaitEnd() throws InterruptedException {
		if (!this.process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS) || this.process.exitValue() != 0) {
			throw new AssertionError("Process " + this.name + " did not end properly: "
					+ (this.process.isAlive() ? "a thread was left behind" : this.process.exitValue()) + "; see "
					+ this.log);
		}
	}

	/**
	 * Sends a signal as {@link #signal(Process, String)} does.
	 * @param signal its name, such as STOP or CONT
	 */
	public void signal(String signal) {
		signal(this.process, signal);
	}

	/**
	 * Sends a signal to any process. It has been sent when this returns; after STOP the
	 * process has also stopped, which takes the process a turn on a processor.
	 * @param process the receiver
	 * @param signal its name, such as STOP or CONT
	 * @throws IllegalStateException if the process has ended
	 */
	public static void signal(Process process, String signal) {
		signal(process.pid(), signal);
	}

	/**
	 * As {@link #signal(Process, String)}, for a process that was started by others.
	 */
	public static synchronized void signal(long pid, String signal) {
		try {
			// a shell that waits for commands reacts at once; a new process takes
			// milliseconds
			Process shell = JavaProcess.shell;
			if (shell == null) {
				shell = new ProcessBuilder("sh").redirectError(ProcessBuilder.Redirect.INHERIT).start();
				JavaProcess.shell = shell;
			}
			String stopped = signal.equals("STOP") ? STOPPED.formatted(pid) : "";
			shell.outputWriter().write("kill -" + signal + ' ' + pid + stopped + "; echo $?\n");
			shell.outputWriter().flush();
			if (!"0".equals(shell.inputReader().readLine())) {
				throw new IllegalStateException("kill -" + signal + " failed for process " + pid);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Sends SIGKILL and waits until the process has ended. */
	public void kill() {
		this.process.destroyForcibly();
		this.process.onExit().join();
	}

	/** Kills the process. */
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
