package io.github.lockspring.internal.engine.support;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockspring.LockEvent;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the failures of a recorder away from the locks that it counts: a lock whose end
 * could not be recorded is released all the same. Logs the first failure. Thread-safe, if
 * the recorder is.
 *
 * @since 0.1
 */
public final class GuardedRecorder implements LockRecorder {

	private static final Logger logger = LoggerFactory.getLogger(GuardedRecorder.class);

	private final LockRecorder recorder;

	private final Executor reports;

	private final AtomicBoolean failed = new AtomicBoolean();

	private GuardedRecorder(LockRecorder recorder, Executor reports) {
		this.recorder = recorder;
		this.reports = reports;
	}

	/**
	 * Guards a recorder.
	 * @param recorder the recorder
	 * @param reports writes what the log has to say
	 * @return a recorder that does not throw
	 */
	public static LockRecorder of(LockRecorder recorder, Executor reports) {
		return (recorder != NONE) ? new GuardedRecorder(recorder, reports) : recorder;
	}

	private void failed(Throwable ex) {
		if (this.failed.compareAndSet(false, true)) {
			this.reports.execute(() -> logger
				.warn("The metrics of locks are incomplete: {} failed. This is logged once", this.recorder, ex));
		}
	}

	@Override
	public void requested(@Nullable String name, Outcome outcome, long waited) {
		try {
			this.recorder.requested(name, outcome, waited);
		}
		catch (RuntimeException | Error ex) {
			failed(ex);
		}
	}

	@Override
	public void waiting(@Nullable String name, int change) {
		try {
			this.recorder.waiting(name, change);
		}
		catch (RuntimeException | Error ex) {
			failed(ex);
		}
	}

	@Override
	public void held(@Nullable String name, @Nullable Handover handover) {
		try {
			this.recorder.held(name, handover);
		}
		catch (RuntimeException | Error ex) {
			failed(ex);
		}
	}

	@Override
	public void ended(@Nullable String name, long held) {
		try {
			this.recorder.ended(name, held);
		}
		catch (RuntimeException | Error ex) {
			failed(ex);
		}
	}

	@Override
	public void renewed(@Nullable String name, Renewal renewal) {
		try {
			this.recorder.renewed(name, renewal);
		}
		catch (RuntimeException | Error ex) {
			failed(ex);
		}
	}

	@Override
	public void lost(@Nullable String name, LockEvent.Lost.Cause cause) {
		try {
			this.recorder.lost(name, cause);
		}
		catch (RuntimeException | Error ex) {
			failed(ex);
		}
	}

	@Override
	public void refused(@Nullable String name, Guard guard) {
		try {
			this.recorder.refused(name, guard);
		}
		catch (RuntimeException | Error ex) {
			failed(ex);
		}
	}

	@Override
	public void commanded(Command command, String shard, boolean answered, long took) {
		try {
			this.recorder.commanded(command, shard, answered, took);
		}
		catch (RuntimeException | Error ex) {
			failed(ex);
		}
	}

}
