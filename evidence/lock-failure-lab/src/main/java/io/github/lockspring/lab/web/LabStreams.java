package io.github.lockspring.lab.web;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.lab.Lab;
import io.github.lockspring.lab.RunState;
import io.github.lockspring.lab.history.History;
import io.github.lockspring.lab.history.LabEvent;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter.SseEventBuilder;

/**
 * Sends what happens in the lab to pages, as server-sent events. Each page has a thread
 * that looks ten times a second.
 */
@Component
@ConditionalOnBooleanProperty(name = "lab.enabled", matchIfMissing = true)
class LabStreams {

	private static final int MAX_STREAMS = 32;

	private static final long LOOK_MILLIS = 100;

	private static final int LOOKS_PER_COMMENT = 100;

	private final Lab lab;

	private final AtomicInteger open = new AtomicInteger();

	private final CountDownLatch closed = new CountDownLatch(1);

	LabStreams(Lab lab) {
		this.lab = lab;
	}

	SseEmitter run(String id, int from) {
		return open("lab-events-" + id, (emitter) -> sendRun(emitter, id, from));
	}

	/**
	 * Opens a stream.
	 * @param name the name of its thread
	 * @param task sends events until there are no more
	 */
	SseEmitter open(String name, StreamTask task) {
		if (this.open.incrementAndGet() > MAX_STREAMS) {
			this.open.decrementAndGet();
			throw new ResponseStatusException(HttpStatus.TOO_MANY_REQUESTS,
					"More than " + MAX_STREAMS + " pages follow the lab. Close one of them");
		}
		SseEmitter emitter = new SseEmitter(0L);
		Thread thread = new Thread(() -> {
			try {
				task.send(emitter);
				emitter.complete();
			}
			catch (IOException | IllegalStateException | InterruptedException ex) {
				// the page is gone
			}
			finally {
				this.open.decrementAndGet();
			}
		}, name);
		thread.setDaemon(true);
		thread.start();
		return emitter;
	}

	private void sendRun(SseEmitter emitter, String id, int from) throws IOException, InterruptedException {
		History history = this.lab.history(id).orElseThrow();
		int next = from;
		RunState sent = null;
		for (int look = 1;; look++) {
			RunState state = this.lab.run(id, false).orElseThrow();
			List<LabEvent> events = history.from(next);
			for (LabEvent event : events) {
				emitter.send(event("event", event).id(String.valueOf(event.i())));
			}
			next += events.size();
			if (sent == null || !state.sale().equals(sent.sale())) {
				emitter.send(event("sale", state.sale()));
			}
			if (sent == null || !state.state().equals(sent.state())) {
				emitter.send(event("state", state));
			}
			sent = state;
			if (state.state().equals("finished") || !breathe(emitter, look)) {
				return;
			}
		}
	}

	/**
	 * Waits until it is time to look again.
	 * @return false if the sample ends, and the stream has to
	 */
	boolean breathe(SseEmitter emitter, int look) throws IOException, InterruptedException {
		if (look % LOOKS_PER_COMMENT == 0) {
			emitter.send(SseEmitter.event().comment("still here"));
		}
		return !this.closed.await(LOOK_MILLIS, TimeUnit.MILLISECONDS);
	}

	/** Before the web server, which waits for the end of all requests. */
	@EventListener(ContextClosedEvent.class)
	void close() {
		this.closed.countDown();
	}

	static SseEventBuilder event(String name, Object data) {
		return SseEmitter.event().name(name).data(data, MediaType.APPLICATION_JSON);
	}

	/**
	 * Sends events.
	 */
	@FunctionalInterface
	interface StreamTask {

		void send(SseEmitter emitter) throws IOException, InterruptedException;

	}

}
