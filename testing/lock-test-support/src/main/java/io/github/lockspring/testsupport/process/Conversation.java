package io.github.lockspring.testsupport.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * The end of a {@link JavaProcess} that runs inside of the process. The process ends when
 * the JVM that started it does. Speaking is thread-safe; one thread listens.
 *
 * @since 0.1
 */
public final class Conversation {

	private final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

	private final PrintStream out = System.out;

	/**
	 * Begins. What the process prints to {@link System#out} afterwards goes to its log.
	 */
	public Conversation() {
		System.setOut(System.err);
	}

	/** Sends a line to the JVM that started this process. */
	public void say(Object line) {
		this.out.println(line);
	}

	/** Waits for the next line. Halts this process when no further line can come. */
	public String hear() {
		try {
			String line = this.in.readLine();
			if (line != null) {
				return line;
			}
			Runtime.getRuntime().halt(1);
			throw new IllegalStateException("Halted");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
