package io.github.lockspring.benchmarks.micro;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.base.CallChain;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * The engine without the advice, over the store in memory, without contention.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
@SuppressWarnings("NullAway.Init")
public class EngineBenchmark {

	@Benchmark
	public Object execute(Engine engine) {
		return engine.template.execute(engine.request, HeldLock::fencingToken);
	}

	@Benchmark
	public Object handle(Engine engine) {
		try (HeldLock lock = engine.template.acquire(engine.request)) {
			return lock;
		}
	}

	/** The key is held already by this call chain. */
	@Benchmark
	public Object reenter(Held held) {
		return held.template.execute(held.request, HeldLock::fencingToken);
	}

	@Benchmark
	public boolean isHeld(Held held) {
		return held.lock.isHeld();
	}

	@Benchmark
	public List<HeldLock> currentLocks(Held held) {
		return CallChain.currentLocks(HeldLock.class);
	}

	/**
	 * An engine.
	 */
	@State(Scope.Thread)
	public static class Engine {

		@Param({ MicroApplication.MEMORY, MicroApplication.MEMORY_SILENT, MicroApplication.MEMORY_METERED,
				MicroApplication.MEMORY_OBSERVED })
		public String locks = "";

		final LockRequest request = LockRequest.of("order:4711");

		LockTemplate template;

		private ConfigurableApplicationContext application;

		@Setup
		public void start() {
			this.application = MicroApplication.start(this.locks);
			this.template = this.application.getBean(LockTemplate.class);
		}

		@TearDown
		public void stop() {
			this.application.close();
		}

	}

	/**
	 * A lock that the benchmark's thread holds all the time.
	 */
	@State(Scope.Thread)
	public static class Held {

		final LockRequest request = LockRequest.of("order:4711");

		LockTemplate template;

		HeldLock lock;

		private ConfigurableApplicationContext application;

		private CallChain.Scope scope;

		@Setup
		public void start() {
			this.application = MicroApplication.start(MicroApplication.MEMORY);
			this.template = this.application.getBean(LockTemplate.class);
			this.lock = this.template.acquire(this.request);
			this.scope = CallChain.open(this.lock, List.of(this.lock));
		}

		@TearDown
		public void stop() {
			this.scope.close();
			this.lock.close();
			this.application.close();
		}

	}

}
