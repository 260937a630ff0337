package io.github.lockspring.testsupport.process;

import java.io.IOException;
import java.io.UncheckedIOException;

import org.jspecify.annotations.Nullable;

/**
 * Sends signals to processes. Thread-safe.
 *
 * @since 0.1
 */
public final class Signals {

	private static @Nullable Process shell;

	private Signals() {
	}

	/**
	 * Sends a signal; it has been sent when this returns.
	 * @param process the receiver
	 * @param signal its name, such as STOP or CONT
	 * @throws IllegalStateException if the process has ended
	 */
	public static void send(Process process, String signal) {
		String answer = run("kill -" + signal + ' ' + process.pid() + "; echo $?");
		if (!"0".equals(answer)) {
			throw new IllegalStateException("kill -" + signal + " failed for process " + process.pid());
		}
	}

	// a shell that waits for commands reacts at once; a new process takes milliseconds
	private static synchronized @Nullable String run(String command) {
		try {
			Process shell = Signals.shell;
			if (shell == null) {
				shell = new ProcessBuilder("sh").redirectError(ProcessBuilder.Redirect.INHERIT).start();
				Signals.shell = shell;
			}
			shell.outputWriter().write(command + '\n');
			shell.outputWriter().flush();
			return shell.inputReader().readLine();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
