package io.github.lockspring.readme;

import java.time.Duration;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.stereotype.Component;

/**
 * Takes locks from reactive code, as on the page about it.
 */
@Component
public class ReactiveTasks {

	private final LockTemplate locks;

	ReactiveTasks(LockTemplate locks) {
		this.locks = locks;
	}

	Mono<String> invoice(long id) {
		return Mono.fromCallable(() -> this.locks.execute(LockRequest.of("order", id), (lock) -> work(id)))
			.subscribeOn(Schedulers.boundedElastic());
	}

	Mono<String> send(long id) {
		LockRequest request = LockRequest.of("order", id).maxHold(Duration.ofMinutes(5));
		return Mono
			.using(() -> this.locks.acquire(request), (lock) -> parcel(id).publishOn(Schedulers.boundedElastic()),
					HeldLock::close)
			.subscribeOn(Schedulers.boundedElastic());
	}

	private String work(long id) {
		return id + " under " + HeldLock.current().orElseThrow().keys();
	}

	/** Ends on another thread, with the answer to whether its lock is busy. */
	private Mono<String> parcel(long id) {
		LockRequest again = LockRequest.of("order", id).waitTime(Duration.ZERO);
		return Mono.delay(Duration.ofMillis(1))
			.map((done) -> this.locks.tryAcquire(again).isPresent() ? "free" : "held");
	}

}
