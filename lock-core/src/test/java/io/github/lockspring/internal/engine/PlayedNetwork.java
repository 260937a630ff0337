package io.github.lockspring.internal.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/**
 * What is on its way in a played history: requests, results, messages, tasks of threads.
 * It arrives in any order, and what the network carries may arrive twice or be lost. For
 * one thread.
 */
final class PlayedNetwork {

	/**
	 * Something on its way.
	 *
	 * @param safe whether it arrives exactly once
	 */
	private record Transit(String what, boolean safe, Runnable arrive) {
	}

	private final PlayedWorld world;

	private final Random random;

	private final List<Transit> transits = new ArrayList<>();

	/** What waits for a result. */
	private final List<CompletableFuture<?>> calls = new ArrayList<>();

	PlayedNetwork(PlayedWorld world) {
		this.world = world;
		this.random = world.random();
	}

	boolean isEmpty() {
		return this.transits.isEmpty();
	}

	void put(String what, Runnable arrive) {
		this.transits.add(new Transit(what, false, arrive));
	}

	/** What a thread will do. */
	void task(String what, Runnable task) {
		this.transits.add(new Transit(what, true, task));
	}

	void call(CompletableFuture<?> stage) {
		this.calls.add(stage);
	}

	void arrive() {
		if (this.transits.isEmpty()) {
			return;
		}
		int which = this.random.nextInt(this.transits.size());
		boolean twice = this.random.nextInt(12) == 0 && !this.transits.get(which).safe;
		Transit transit = twice ? this.transits.get(which) : this.transits.remove(which);
		this.world.trace("%s%s", transit.what, twice ? " (it will come again)" : "");
		transit.arrive.run();
	}

	void lose() {
		if (!this.transits.isEmpty()) {
			int which = this.random.nextInt(this.transits.size());
			if (!this.transits.get(which).safe) {
				this.world.trace("lost: %s", this.transits.remove(which).what);
			}
		}
	}

	/** The driver reports that a request has no result. */
	void fail() {
		this.calls.removeIf(CompletableFuture::isDone);
		if (!this.calls.isEmpty()) {
			this.world.trace("a request fails");
			this.calls.remove(this.random.nextInt(this.calls.size()))
				.completeExceptionally(PlayedWorld.noResult(this.random.nextInt(8) == 0));
		}
	}

	/** Delivers what was sent first; returns false if there is nothing. */
	boolean deliver() {
		if (this.transits.isEmpty()) {
			return false;
		}
		Transit transit = this.transits.remove(0);
		this.world.trace("%s", transit.what);
		transit.arrive.run();
		return true;
	}

}
