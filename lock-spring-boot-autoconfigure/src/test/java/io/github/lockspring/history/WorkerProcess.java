package io.github.lockspring.history;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A {@link HistoryWorker} seen from the test. Not thread-safe, except for
 * {@link #kill()}.
 */
final class WorkerProcess {

	private static final long PATIENCE_SECONDS = 60;

	private static final String END = "";

	private final String name;

	private final Path log;

	private final Process process;

	private final BufferedWriter in;

	private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

	/**
	 * Starts a worker. Does not wait until it is ready.
	 * @param name its name
	 * @param directory where it writes its events and its log
	 * @param arguments further arguments: port and driver, then seed, keys and threads
	 */
	WorkerProcess(String name, Path directory, List<String> arguments) throws IOException {
		this.name = name;
		this.log = directory.resolve(name + ".log");
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		ProcessBuilder builder = new ProcessBuilder(java, "-Xmx64m", "-Xss256k", "-XX:+UseSerialGC", "-Xshare:auto",
				"-XX:TieredStopAtLevel=1",
				"-Dlogback.configurationFile=io/github/lockspring/history/worker-logback.xml", "-cp",
				System.getProperty("java.class.path"), HistoryWorker.class.getName(), arguments.get(0),
				arguments.get(1), directory.resolve(name + ".events").toString(), arguments.get(2), arguments.get(3),
				arguments.get(4));
		File log = this.log.toFile();
		this.process = builder.redirectError(log).start();
		this.in = this.process.outputWriter(StandardCharsets.UTF_8);
		Thread reader = new Thread(this::read, "history-" + name);
		reader.setDaemon(true);
		reader.start();
	}

	private void read() {
		try (BufferedReader out = this.process.inputReader(StandardCharsets.UTF_8)) {
			String line;
			while ((line = out.readLine()) != null) {
				this.answers.add(line);
			}
		}
		catch (IOException ex) {
			// it was killed
		}
		this.answers.add(END);
	}

	String name() {
		return this.name;
	}

	void awaitReady() throws InterruptedException {
		expect("ready");
	}

	/** Asks for something and waits for the answer. */
	String ask(String question) throws IOException, InterruptedException {
		this.in.write(question);
		this.in.newLine();
		this.in.flush();
		return answer();
	}

	private String answer() throws InterruptedException {
		String answer = this.answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
		if (answer == null || answer.equals(END)) {
			throw new AssertionError("Worker " + this.name + ((answer == null) ? " does not answer" : " has ended")
					+ "; see " + this.log);
		}
		return answer;
	}

	private void expect(String expected) throws InterruptedException {
		String answer = answer();
		if (!answer.equals(expected)) {
			throw new AssertionError("Worker " + this.name + " said " + answer + "; see " + this.log);
		}
	}

	/** Lets it end in an orderly way. */
	void stop() throws IOException {
		this.in.write(HistoryWorker.STOP);
		this.in.newLine();
		this.in.flush();
	}

	void awaitStopped() throws InterruptedException {
		expect("stopped");
		if (!this.process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || this.process.exitValue() != 0) {
			throw new AssertionError("Worker " + this.name + " did not end properly: "
					+ (this.process.isAlive() ? "a thread was left behind" : this.process.exitValue()) + "; see "
					+ this.log);
		}
	}

	/** SIGSTOP or SIGCONT. */
	void signal(String signal) throws IOException, InterruptedException {
		Process kill = new ProcessBuilder("kill", "-" + signal, String.valueOf(this.process.pid())).inheritIO().start();
		if (kill.waitFor() != 0) {
			throw new AssertionError("kill -" + signal + " failed for worker " + this.name);
		}
	}

	/** SIGKILL. */
	void kill() {
		this.process.destroyForcibly();
		this.process.onExit().join();
	}

}
