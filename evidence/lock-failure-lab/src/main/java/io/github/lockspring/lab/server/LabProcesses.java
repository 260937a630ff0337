package io.github.lockspring.lab.server;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The child processes of one lab, and its folder. A shell keeps a list of them: when this
 * JVM has ended, in whatever way, it kills those that are left, also stopped ones, and
 * deletes the folder. Thread-safe.
 */
public final class LabProcesses implements AutoCloseable {

	/**
	 * Reads orders: a child's begin and end, or a signal to send. A process goes on for a
	 * moment after SIGSTOP; it has stopped when its state says so.
	 */
	private static final String KEEPER = """
			trap '' INT HUP TERM
			folder=$1
			children=' '
			while read -r order pid; do
				case $order in
					begun) children="$children$pid " ;;
					ended) children="${children%% $pid *} ${children#* $pid }" ;;
					STOP)
						kill -STOP "$pid"; status=$?
						while case $({ cut -d ' ' -f 3 "/proc/$pid/stat" || ps -o stat= -p "$pid"; } 2> /dev/null) in
							T*|Z*|'') false ;;
						esac; do :; done
						echo $status ;;
					*) kill "-$order" "$pid"; echo $? ;;
				esac
			done
			for pid in $children; do
				kill -KILL "$pid" 2> /dev/null
			done
			rm -rf "$folder"
			""";

	private final Path directory;

	private final Process keeper;

	private final BufferedWriter orders;

	private final BufferedReader answers;

	/** Starts the shell and makes the folder. */
	public LabProcesses() {
		if (File.separatorChar == '\\') {
			throw new IllegalStateException(
					"The failure lab stops and kills processes by signals, which Windows does not have: run the sample on Linux or macOS");
		}
		try {
			this.directory = Files.createTempDirectory("lockspring-lab-" + ProcessHandle.current().pid() + "-");
			this.keeper = new ProcessBuilder("sh", "-c", KEEPER, "sh", this.directory.toString())
				.redirectError(Redirect.DISCARD)
				.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.orders = this.keeper.outputWriter();
		this.answers = this.keeper.inputReader();
	}

	/**
	 * Returns the folder of this lab, which is deleted at its end.
	 * @return the folder
	 */
	public Path directory() {
		return this.directory;
	}

	/**
	 * Starts a child in the folder of the lab. Its standard error goes to a file there.
	 * @param name the name of that file
	 * @param command the command
	 * @return the process
	 */
	public Process start(String name, List<String> command) {
		File log = this.directory.resolve(name + ".log").toFile();
		try {
			Process process = new ProcessBuilder(command).directory(this.directory.toFile())
				.redirectError(Redirect.appendTo(log))
				.start();
			order("begun", process);
			process.onExit().thenAccept(this::forget);
			return process;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Sends a signal; it has been sent when this returns, and after STOP the process has
	 * stopped.
	 * @param signal its name, such as STOP
	 * @param process the receiver
	 */
	public synchronized void signal(String signal, Process process) {
		try {
			order(signal, process);
			if (!"0".equals(this.answers.readLine())) {
				throw new IllegalStateException("kill -" + signal + " " + process.pid() + " failed");
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Sends SIGKILL and waits until the process has ended.
	 * @param process the process
	 */
	public void kill(Process process) {
		process.destroyForcibly();
		process.onExit().join();
	}

	private synchronized void order(String order, Process process) throws IOException {
		this.orders.write(order + ' ' + process.pid() + '\n');
		this.orders.flush();
	}

	private void forget(Process process) {
		try {
			order("ended", process);
		}
		catch (IOException ex) {
			// the lab was closed
		}
	}

	/** Kills all children and deletes the folder. */
	@Override
	public void close() {
		try {
			synchronized (this) {
				this.orders.close();
			}
			this.keeper.onExit().join();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
