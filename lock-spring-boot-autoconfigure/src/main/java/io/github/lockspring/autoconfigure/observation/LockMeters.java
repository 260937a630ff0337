package io.github.lockspring.autoconfigure.observation;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.lockspring.LockEvent;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.util.function.SingletonSupplier;

/**
 * The meters of the application's locks, which {@code docs/reference/meters.md} lists. A
 * meter always has all of its tags. The key of a lock is never one: there are as many
 * meters as there are names. Thread-safe.
 */
/*
 * For maintainers: the engine may be created before the registries of the application are
 * configured, and long after, or never. So the meters are in a registry of their own,
 * into which Spring Boot puts each configured one. Those of locks that are used before
 * the application has started are counted nowhere, and made again then: a registry that
 * is added later would not have their counts, of which Micrometer warns. This class needs
 * neither engine nor store.
 */
final class LockMeters implements LockRecorder, MeterBinder, ApplicationListener<ContextRefreshedEvent> {

	private static final String PREFIX = "distributed.lock.";

	private static final String NONE = "none";

	private final CompositeMeterRegistry configured = new CompositeMeterRegistry();

	/** One that counts nothing until the application has started. */
	private volatile MeterRegistry registry = new CompositeMeterRegistry();

	private final Map<String, Named> named = new ConcurrentHashMap<>();

	private final Map<String, Shard> shards = new ConcurrentHashMap<>();

	private final Supplier<String> store;

	private final Supplier<? extends Iterable<String>> names;

	private final Runnable registries;

	/**
	 * Creates meters that are in no registry yet.
	 * @param store supplies the name of the store, called when the first meter is created
	 * @param names supplies the labels whose meters exist from the start, called when the
	 * application has started
	 * @param registries creates the registries of the application if they do not exist by
	 * then, since beans may be lazy
	 */
	LockMeters(Supplier<String> store, Supplier<? extends Iterable<String>> names, Runnable registries) {
		this.store = SingletonSupplier.of(store);
		this.names = names;
		this.registries = registries;
	}

	@Override
	public void bindTo(MeterRegistry configured) {
		this.configured.add(configured);
	}

	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		this.registries.run();
		begin();
		this.names.get().forEach(this::named);
	}

	private synchronized void begin() {
		if (this.registry != this.configured) {
			this.registry = this.configured;
			this.named.replaceAll((label, early) -> new Named(label, early.waiting, early.held));
			this.shards.replaceAll((name, early) -> new Shard(name));
		}
	}

	@Override
	public void requested(@Nullable String name, Outcome outcome, long waited) {
		record(named(name).requests, outcome, waited);
	}

	@Override
	public void waiting(@Nullable String name, int change) {
		named(name).waiting.add(change);
	}

	@Override
	public void held(@Nullable String name, @Nullable Origin origin) {
		Named meters = named(name);
		meters.held.increment();
		if (origin != null) {
			meters.count(origin);
		}
	}

	@Override
	public void ended(@Nullable String name, long held) {
		Named meters = named(name);
		meters.held.decrement();
		meters.usage.record(held, TimeUnit.NANOSECONDS);
	}

	@Override
	public void renewed(@Nullable String name, Renewal renewal) {
		named(name).count(renewal);
	}

	@Override
	public void lost(@Nullable String name, LockEvent.Lost.Cause cause) {
		named(name).count(cause);
	}

	@Override
	public void refused(@Nullable String name, Guard guard) {
		named(name).count(guard);
	}

	@Override
	public void commanded(Command command, String shard, boolean answered, long took) {
		Shard meters = this.shards.get(shard);
		if (meters == null) {
			meters = create(this.shards, shard, Shard::new);
		}
		record(answered ? meters.answered : meters.failed, command, took);
	}

	private static <E extends Enum<E>> void record(Map<E, Timer> timers, E key, long nanos) {
		Timer timer = timers.get(key);
		if (timer != null) {
			timer.record(nanos, TimeUnit.NANOSECONDS);
		}
	}

	private Named named(@Nullable String name) {
		String label = (name == null || name.isEmpty()) ? NONE : name;
		Named meters = this.named.get(label);
		return (meters != null) ? meters : create(this.named, label, Named::new);
	}

	/** Not while the registry changes. */
	private synchronized <T> T create(Map<String, T> meters, String label, Function<String, T> meter) {
		return meters.computeIfAbsent(label, meter);
	}

	private Timer timer(String meter, Tags tags) {
		return Timer.builder(PREFIX + meter).tags(tags).register(this.registry);
	}

	private <E extends Enum<E>> Map<E, Timer> timers(String meter, Tags tags, String tag, Class<E> values) {
		Map<E, Timer> timers = new EnumMap<>(values);
		for (E value : values.getEnumConstants()) {
			timers.put(value, timer(meter, tags.and(tag, value(value))));
		}
		return timers;
	}

	/** Writes a value as tags have it. */
	private static String value(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT);
	}

	/**
	 * The meters of the locks with one name.
	 */
	private final class Named {

		private final LongAdder waiting;

		private final LongAdder held;

		private final Map<Outcome, Timer> requests;

		private final Timer usage;

		/** By what they count. */
		private final Map<Enum<?>, Counter> counters = new HashMap<>();

		Named(String name) {
			this(name, new LongAdder(), new LongAdder());
		}

		Named(String name, LongAdder waiting, LongAdder held) {
			this.waiting = waiting;
			this.held = held;
			Tags tags = Tags.of("name", name, "store", LockMeters.this.store.get());
			gauge("waiting", tags, this.waiting);
			gauge("held", tags, this.held);
			this.requests = timers("acquire", tags, "outcome", Outcome.class);
			this.usage = timer("usage", tags);
			counters("handovers", tags, "kind", Origin.values());
			counters("renewals", tags, "outcome", Renewal.values());
			counters("lost", tags, "cause", LockEvent.Lost.Cause.values());
			counters("refusals", tags, "guard", Guard.values());
		}

		private void gauge(String meter, Tags tags, LongAdder number) {
			Gauge.builder(PREFIX + meter, number, LongAdder::sum).tags(tags).register(LockMeters.this.registry);
		}

		private void counters(String meter, Tags tags, String tag, Enum<?>[] values) {
			for (Enum<?> value : values) {
				this.counters.put(value,
						Counter.builder(PREFIX + meter)
							.tags(tags.and(tag, value(value)))
							.register(LockMeters.this.registry));
			}
		}

		private void count(Enum<?> value) {
			Counter counter = this.counters.get(value);
			if (counter != null) {
				counter.increment();
			}
		}

	}

	/**
	 * The meters of the commands to one server.
	 */
	private final class Shard {

		private final Map<Command, Timer> answered;

		private final Map<Command, Timer> failed;

		Shard(String name) {
			Tags tags = Tags.of("store", LockMeters.this.store.get(), "shard", name.isEmpty() ? NONE : name);
			this.answered = timers("store.commands", tags.and("outcome", "answered"), "command", Command.class);
			this.failed = timers("store.commands", tags.and("outcome", "failed"), "command", Command.class);
		}

	}

}
