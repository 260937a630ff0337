package io.github.lockspring.autoconfigure.observation;

import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockCallback;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.autoconfigure.observation.LockObservationContext.Phase;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

/**
 * Observes how long calls wait for their locks and hold them. Handles, which have no
 * thread, are not observed. Thread-safe.
 */
final class ObservedLockTemplate implements LockTemplate {

	/**
	 * The settings of observations.
	 *
	 * @param registry the application's registry
	 * @param convention its own convention, or null
	 * @param store the name of the store
	 */
	record Settings(ObservationRegistry registry, @Nullable LockObservationConvention convention, String store) {

		private static final LockObservationConvention STANDARD = new LockObservationConvention() {
		};

		Observation start(LockObservationContext context) {
			// one of the registry may have no name
			context.setName(context.getPhase().observation());
			return Observation.start((this.convention != null) ? new Named(this.convention, context.getPhase()) : null,
					new Named(STANDARD, context.getPhase()), () -> context, this.registry);
		}

	}

	/**
	 * A convention that always has a name: predicates, such as that of
	 * {@code management.observations.enable}, identify an observation by it.
	 */
	private record Named(LockObservationConvention convention, Phase phase) implements LockObservationConvention {

		@Override
		public String getName() {
			String name = this.convention.getName();
			return (name != null) ? name : this.phase.observation();
		}

		@Override
		public @Nullable String getContextualName(LockObservationContext context) {
			return this.convention.getContextualName(context);
		}

		@Override
		public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
			return this.convention.getLowCardinalityKeyValues(context);
		}

		@Override
		public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
			return this.convention.getHighCardinalityKeyValues(context);
		}

	}

	private final LockTemplate locks;

	private final Supplier<Settings> settings;

	/**
	 * Creates a template.
	 * @param locks acquires the locks
	 * @param settings supplies the settings, called at the first call: the registry is
	 * configured after the beans that are created early
	 */
	ObservedLockTemplate(LockTemplate locks, Supplier<Settings> settings) {
		this.locks = locks;
		this.settings = SingletonSupplier.of(settings);
	}

	@Override
	public <T extends @Nullable Object, X extends Throwable> T execute(LockRequest request, LockCallback<T, X> work)
			throws X {
		Settings present = this.settings.get();
		if (present.registry().isNoop() || isReentry(request)) {
			return this.locks.execute(request, work);
		}
		ObservedCall call = new ObservedCall(present, request);
		try {
			return this.locks.execute(request, (lock) -> {
				call.acquired();
				return work.doUnderLock(lock);
			});
		}
		catch (Throwable ex) {
			call.failed(ex);
			throw ex;
		}
		finally {
			call.end();
		}
	}

	private static boolean isReentry(LockRequest request) {
		return request.keys().stream().allMatch((key) -> HeldLock.current(key).isPresent());
	}

	@Override
	public HeldLock acquire(LockRequest request) {
		return this.locks.acquire(request);
	}

	@Override
	public Optional<HeldLock> tryAcquire(LockRequest request) {
		return this.locks.tryAcquire(request);
	}

	@Override
	public Lock asLock(String key) {
		return this.locks.asLock(key);
	}

	/**
	 * One call, on its thread: first its wait, then its hold.
	 */
	private static final class ObservedCall {

		private final Settings settings;

		private final LockRequest request;

		private LockObservationContext context;

		private Observation observation;

		private Observation.Scope scope;

		ObservedCall(Settings settings, LockRequest request) {
			this.settings = settings;
			this.request = request;
			this.context = new LockObservationContext(Phase.WAIT, request, settings.store());
			this.observation = settings.start(this.context);
			this.scope = this.observation.openScope();
		}

		void acquired() {
			this.context.setOutcome("acquired");
			end();
			this.context = new LockObservationContext(Phase.HOLD, this.request, this.settings.store());
			this.observation = this.settings.start(this.context);
			this.scope = this.observation.openScope();
			this.context.setOutcome("released");
		}

		void failed(Throwable ex) {
			boolean holding = this.context.getPhase() == Phase.HOLD;
			this.context.setOutcome(holding ? outcomeOfHold(ex) : outcomeOfWait(ex));
			if (holding || !(ex instanceof LockNotAcquiredException)) {
				// a busy lock is normal
				this.observation.error(ex);
			}
		}

		private static String outcomeOfWait(Throwable ex) {
			if (ex instanceof LockNotAcquiredException) {
				return "busy";
			}
			if (ex instanceof LockInterruptedException) {
				return "interrupted";
			}
			return (ex instanceof LockUnavailableException) ? "unavailable" : "error";
		}

		private static String outcomeOfHold(Throwable ex) {
			boolean lost = ex instanceof LockLostException;
			for (Throwable suppressed : ex.getSuppressed()) {
				lost |= suppressed instanceof LockLostException;
			}
			return lost ? "lost" : "released";
		}

		void end() {
			this.scope.close();
			this.observation.stop();
		}

	}

}
