package io.github.lockspring.model;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Runs states to their end with nothing going wrong any more: what is on its way arrives,
 * each instance does what it has to do, and time passes when nothing is left to be done.
 * Then nobody may wait, and nothing may be left. Remembers the states that end well. Not
 * thread-safe.
 *
 * @param <E> what can happen
 * @param <M> the model
 */
public abstract class EndingRuns<E extends Enum<E>, M extends Machine<E>> implements Machine.Outlook<E> {

	/** A run that takes more steps does not end. */
	private static final int MAX_STEPS = 400;

	private final M world;

	private final String leftover;

	private final Fingerprints ended = new Fingerprints();

	/**
	 * Creates runs.
	 * @param world a fresh one
	 * @param leftover what may stay for ever
	 */
	protected EndingRuns(M world, String leftover) {
		this.world = world;
		this.leftover = leftover;
		world.setFair();
	}

	/** Returns the model in its present state. */
	protected final M world() {
		return this.world;
	}

	@Override
	public final Machine.@Nullable Failure<E> look(byte[] state) {
		this.world.load(state);
		List<Long> passed = new ArrayList<>();
		List<Step<E>> steps = new ArrayList<>();
		byte[] present = state;
		while (!isOver()) {
			long fingerprint = Fingerprints.of(present);
			if (this.ended.get(fingerprint) >= 0) {
				break;
			}
			if (steps.size() > MAX_STEPS) {
				return new Machine.Failure<>(
						(isWaitedFor() ? "a waiter waits" : this.leftover + " stays") + " for ever", steps);
			}
			passed.add(fingerprint);
			Step<E> step = next();
			steps.add(step);
			try {
				this.world.perform(step);
			}
			catch (LimitReached ex) {
				break;
			}
			catch (Violation ex) {
				return new Machine.Failure<>(ex.what(), steps);
			}
			present = this.world.state();
			this.world.load(present);
		}
		passed.forEach((fingerprint) -> this.ended.put(fingerprint, 1));
		return null;
	}

	/** Returns whether nobody has anything to do, and nothing is left. */
	protected abstract boolean isOver();

	/** Returns whether somebody waits for the lock. */
	protected abstract boolean isWaitedFor();

	/** Returns what happens next. */
	protected abstract Step<E> next();

}
