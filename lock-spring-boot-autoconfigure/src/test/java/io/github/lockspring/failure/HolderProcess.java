package io.github.lockspring.failure;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.testsupport.Instance;

/**
 * A lock holder in a process of its own, so that it can be stopped and killed.
 */
final class HolderProcess implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final Process process;

	private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

	private HolderProcess(Process process) {
		this.process = process;
		Thread reader = new Thread(() -> process.inputReader().lines().forEach(this.lines::add), "holder-output");
		reader.setDaemon(true);
		reader.start();
	}

	static HolderProcess start(int port, String key, Duration ttl) {
		try {
			Process process = new ProcessBuilder(
					List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m",
							"-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
							HolderProcess.class.getName(), String.valueOf(port), key, String.valueOf(ttl.toMillis())))
				.redirectError(ProcessBuilder.Redirect.DISCARD)
				.start();
			Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
			return new HolderProcess(process);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Waits for a line that begins with the given word, and gives the rest of it. */
	String await(String word) {
		try {
			String line;
			while ((line = this.lines.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)) != null) {
				if (line.startsWith(word + " ")) {
					return line.substring(word.length() + 1);
				}
			}
			throw new IllegalStateException("The process did not say '" + word + "' within " + PATIENCE);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	void signal(String name) {
		try {
			int exit = new ProcessBuilder("kill", "-" + name, String.valueOf(this.process.pid())).start().waitFor();
			if (exit != 0) {
				throw new IllegalStateException("kill -" + name + " failed");
			}
		}
		catch (IOException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
	}

	/**
	 * Waits for the lock, says "waiting" before and "held" with its token after, writes
	 * as long as it is held, then says "lost".
	 */
	public static void main(String[] args) throws Exception {
		LockRequest request = LockRequest.of(args[1])
			.ttl(Duration.ofMillis(Long.parseLong(args[2])))
			.renew()
			.waitTime(Duration.ofMinutes(1));
		try (Instance instance = Instance.on(Integer.parseInt(args[0]))) {
			instance.locks()
				.tryAcquire(LockRequest.of("warm-up").waitTime(Duration.ofMinutes(1)))
				.ifPresent(HeldLock::close);
			System.out.println("waiting " + args[1]);
			HeldLock lock = instance.locks().acquire(request);
			System.out.println("held " + lock.fencingToken());
			long writes = 0;
			while (lock.isHeld()) {
				writes++;
				Thread.sleep(5);
			}
			System.out.println("lost " + writes);
			new BufferedReader(new InputStreamReader(System.in)).readLine();
		}
	}

}
