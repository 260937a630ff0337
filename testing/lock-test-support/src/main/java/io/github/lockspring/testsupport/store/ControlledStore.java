package io.github.lockspring.testsupport.store;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.store.DelegatingLockStore;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * Passes requests and messages on to another store, records them, and delays or rejects
 * them on demand. A gate controls one kind of them; a test makes one of each kind.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class ControlledStore extends DelegatingLockStore {

	/** The requests to a store and its messages. */
	public enum Kind {

		/** A request. */
		ACQUIRE,
		/** A request. */
		RENEW,
		/** A request. */
		RELEASE,
		/** A message. */
		GRANTED,
		/** A message. */
		WANTED

	}

	/**
	 * A request or a message.
	 *
	 * @param key the key
	 * @param token the owner token
	 * @param fencingToken that of a grant or a release, otherwise 0
	 * @param at when it was sent, by {@link System#nanoTime()}
	 */
	public record Sent(String key, OwnerToken token, long fencingToken, long at) {
	}

	private final Map<Kind, List<Sent>> sent = new ConcurrentHashMap<>();

	private final Map<Kind, List<Sent>> answered = new ConcurrentHashMap<>();

	private final Map<Kind, Gate> gates = new ConcurrentHashMap<>();

	private final Map<Kind, Gate> answerGates = new ConcurrentHashMap<>();

	private volatile Optional<Inbox> inbox = Optional.empty();

	private volatile String instance = "";

	private volatile Runnable opened = () -> {
	};

	/** Creates a store that passes everything on. */
	public ControlledStore(LockStore store) {
		super(store);
	}

	/**
	 * From now on, requests or messages of this kind are held back: they are carried out
	 * when the gate is opened, or never.
	 */
	public Gate hold(Kind kind) {
		return put(this.gates, kind, 0);
	}

	/**
	 * From now on, requests of this kind are carried out, but their answers held back.
	 */
	public Gate holdAnswers(Kind kind) {
		return put(this.answerGates, kind, 0);
	}

	/** From now on, so many requests of this kind fail without being carried out. */
	public Gate refuse(Kind kind, int times) {
		return put(this.gates, kind, times);
	}

	private static Gate put(Map<Kind, Gate> gates, Kind kind, int refusals) {
		Gate gate = new Gate(refusals);
		gates.put(kind, gate);
		return gate;
	}

	/** Lets everything pass that is or was held back. */
	public void openAll() {
		this.gates.values().forEach(Gate::open);
		this.answerGates.values().forEach(Gate::open);
	}

	/**
	 * Returns the requests and messages for a key; a message counts when it has been
	 * delivered, or is held.
	 */
	public List<Sent> sent(Kind kind, String key) {
		return of(this.sent, kind, key);
	}

	/** Which requests for a key were answered, and the answer passed on. */
	public List<Sent> answered(Kind kind, String key) {
		return of(this.answered, kind, key);
	}

	private static List<Sent> of(Map<Kind, List<Sent>> all, Kind kind, String key) {
		return all.getOrDefault(kind, List.of()).stream().filter((each) -> each.key().equals(key)).toList();
	}

	/** The identity of the instance; known when it has been used. */
	public String instance() {
		return this.instance;
	}

	/** Whether the store has a queue; known when the instance has been used. */
	public boolean hasQueue() {
		return this.inbox.isPresent();
	}

	/** Whether messages arrive. */
	public boolean isInformed() {
		return this.inbox.filter(Inbox::isConfirmed).isPresent();
	}

	/** Reports to the instance that its inbox was opened again. */
	public void sayOpened() {
		this.opened.run();
	}

	@Override
	public CompletionStage<AcquireResult> acquire(AcquireRequest request, Duration timeout) {
		return carryOut(Kind.ACQUIRE, List.of(sent(request.key(), request.token(), 0)),
				() -> super.acquire(request, timeout));
	}

	@Override
	public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
		return carryOut(Kind.RELEASE, List.of(sent(request.key(), request.token(), request.lastFencingToken())),
				() -> super.release(request, timeout));
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout) {
		return carryOut(Kind.RENEW,
				requests.stream().map((request) -> sent(request.key(), request.token(), 0)).toList(),
				() -> super.renew(requests, timeout));
	}

	private static Sent sent(String key, OwnerToken token, long fencingToken) {
		return new Sent(key, token, fencingToken, System.nanoTime());
	}

	private <T> CompletionStage<T> carryOut(Kind kind, List<Sent> what, Supplier<CompletionStage<T>> request) {
		add(this.sent, kind, what);
		return pass(this.gates.get(kind)).thenCompose((sent) -> request.get())
			.thenCompose((answer) -> pass(this.answerGates.get(kind)).thenApply((passed) -> {
				add(this.answered, kind, what);
				return answer;
			}));
	}

	private static void add(Map<Kind, List<Sent>> to, Kind kind, List<Sent> what) {
		to.computeIfAbsent(kind, (absent) -> new CopyOnWriteArrayList<>()).addAll(what);
	}

	/** Blocks where the store does. */
	private CompletionStage<@Nullable Void> pass(@Nullable Gate gate) {
		CompletableFuture<@Nullable Void> passed = new CompletableFuture<>();
		if (gate != null) {
			passed = gate.arrive();
		}
		else {
			passed.complete(null);
		}
		if (!traits().blocking()) {
			return passed;
		}
		CompletableFuture<@Nullable Void> awaited = passed;
		return Stages.call(() -> Stages.join(awaited, Duration.ofMinutes(1)));
	}

	private void deliver(Kind kind, Sent message, Runnable delivery) {
		Gate gate = this.gates.get(kind);
		if (gate == null) {
			delivery.run();
		}
		else {
			gate.arrive().thenRun(delivery);
		}
		add(this.sent, kind, List.of(message));
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		this.instance = instance;
		this.opened = listener::opened;
		this.inbox = super.inbox(instance, new InboxListener() {

			@Override
			public void granted(String key, OwnerToken token, long fencingToken, boolean othersWait) {
				deliver(Kind.GRANTED, sent(key, token, fencingToken),
						() -> listener.granted(key, token, fencingToken, othersWait));
			}

			@Override
			public void wanted(String key, OwnerToken token) {
				deliver(Kind.WANTED, sent(key, token, 0), () -> listener.wanted(key, token));
			}

			@Override
			public void opened() {
				listener.opened();
			}

		});
		return this.inbox;
	}

	/**
	 * A gate at which requests or messages wait, or are rejected, until it is opened. The
	 * thread that opens it passes them on in order of arrival.
	 */
	public static final class Gate {

		private final AtomicInteger refusals;

		private final AtomicInteger arrivals = new AtomicInteger();

		private final Queue<CompletableFuture<@Nullable Void>> held = new ArrayDeque<>();

		private boolean open;

		private Gate(int refusals) {
			this.refusals = new AtomicInteger(refusals);
			this.open = refusals > 0;
		}

		private CompletableFuture<@Nullable Void> arrive() {
			CompletableFuture<@Nullable Void> passed = new CompletableFuture<>();
			if (this.refusals.getAndUpdate((left) -> Math.max(0, left - 1)) > 0) {
				passed.completeExceptionally(new LockUnavailableException("refused"));
			}
			else if (!hold(passed)) {
				passed.complete(null);
			}
			this.arrivals.incrementAndGet();
			return passed;
		}

		private synchronized boolean hold(CompletableFuture<@Nullable Void> arrival) {
			return !this.open && this.held.add(arrival);
		}

		/** Returns the number of arrivals so far. */
		public int arrivals() {
			return this.arrivals.get();
		}

		/** Lets everything pass, now and later. */
		public void open() {
			this.refusals.set(0);
			List<CompletableFuture<@Nullable Void>> passing;
			synchronized (this) {
				this.open = true;
				passing = List.copyOf(this.held);
				this.held.clear();
			}
			passing.forEach((each) -> each.complete(null));
		}

	}

}
