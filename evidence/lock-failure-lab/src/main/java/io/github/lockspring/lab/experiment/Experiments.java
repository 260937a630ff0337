package io.github.lockspring.lab.experiment;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Sends the signals of the page's experiments: to the redis-server that this instance has
 * started, and to this instance. One at a time, and a process that was stopped continues
 * even if this instance has ended. Protected like the failure lab.
 */
@RestController
@RequestMapping("/api/experiments")
@CrossOrigin(originPatterns = { "http://localhost:*", "http://127.0.0.1:*" })
@ConditionalOnBooleanProperty(name = "lab.enabled", matchIfMissing = true)
class Experiments {

	private static final int MAX_SECONDS = 60;

	/** The answer is sent before a signal to this process. */
	private static final String STRIKE = "sleep 0.3; kill -$1 $2; [ $1 = STOP ] && sleep $3 && kill -CONT $2";

	private final Semaphore free = new Semaphore(1);

	/** Whether this application has started a redis-server, and not only this process. */
	private final boolean started;

	Experiments(@Value("${lab.redis.started:false}") boolean started) {
		this.started = started;
	}

	/** Returns whether this instance has started a redis-server. */
	@GetMapping
	Map<String, Object> available() {
		return Map.of("redis", redis().isPresent());
	}

	/** Stops a process for some seconds. */
	@PostMapping("/{target}/stop")
	Map<String, Object> stop(@PathVariable String target, @RequestParam int seconds) {
		if (seconds < 1 || seconds > MAX_SECONDS) {
			throw problem(HttpStatus.BAD_REQUEST,
					"A process is stopped for 1 to " + MAX_SECONDS + " seconds, not " + seconds);
		}
		begin(strike("STOP", target(target), seconds), () -> {
		});
		return Map.of("stopped", target, "seconds", seconds);
	}

	/** Kills a process. A redis-server is started again, without its data. */
	@PostMapping("/{target}/kill")
	Map<String, Object> kill(@PathVariable String target) {
		begin(strike("KILL", target(target), 0), target.equals("redis") ? () -> {
			pause();
			EmbeddedRedis.startAgain();
		} : () -> {
		});
		return Map.of("killed", target);
	}

	private Optional<ProcessHandle> redis() {
		return this.started ? EmbeddedRedis.process() : Optional.empty();
	}

	private ProcessHandle target(String name) {
		return switch (name) {
			case "redis" -> redis().orElseThrow(() -> problem(HttpStatus.CONFLICT,
					"This instance has not started the Redis server; the page of the one that has can signal it"));
			case "instance" -> ProcessHandle.current();
			default ->
				throw problem(HttpStatus.NOT_FOUND, "There is no '" + name + "' to signal, only redis and instance");
		};
	}

	/**
	 * Sends a signal soon.
	 * @param signal STOP or KILL
	 * @param target the receiver
	 * @param seconds after how many seconds a process that was stopped continues
	 * @return the shell that does it
	 */
	static ProcessBuilder strike(String signal, ProcessHandle target, int seconds) {
		return new ProcessBuilder("sh", "-c", STRIKE, "sh", signal, String.valueOf(target.pid()),
				String.valueOf(seconds));
	}

	private void begin(ProcessBuilder shell, Runnable afterwards) {
		if (!this.free.tryAcquire()) {
			throw problem(HttpStatus.TOO_MANY_REQUESTS, "Another experiment is going on. Wait for its end");
		}
		try {
			shell.start().onExit().thenRun(afterwards).whenComplete((done, failure) -> this.free.release());
		}
		catch (IOException ex) {
			this.free.release();
			throw new UncheckedIOException(ex);
		}
	}

	private static void pause() {
		try {
			TimeUnit.SECONDS.sleep(3);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static ResponseStatusException problem(HttpStatus status, String words) {
		return new ResponseStatusException(status, words);
	}

}
