package io.github.lockspring.benchmarks.micro;

import java.util.concurrent.TimeUnit;

import io.github.lockspring.benchmarks.micro.OrderService.Order;
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
 * A call of an annotated, empty method. {@link #proxy} is the baseline: Spring's proxy
 * with an interceptor that does nothing. With {@code locks=nothing} the difference to it
 * is the advice; with {@code locks=memory} the engine comes in addition.
 * <p>
 * Keys go round among {@value #ORDERS} orders, since a key that is always the same would
 * flatter the caches of strings and of the processor.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
@SuppressWarnings("NullAway.Init")
public class AdviceBenchmark {

	private static final int ORDERS = 1024;

	@Param({ MicroApplication.NOTHING, MicroApplication.MEMORY })
	public String locks = "";

	private final Order[] orders = new Order[ORDERS];

	private int next;

	private OrderService service;

	private ConfigurableApplicationContext application;

	@Setup
	public void start() {
		this.application = MicroApplication.start(this.locks);
		this.service = this.application.getBean(OrderService.class);
		for (int i = 0; i < ORDERS; i++) {
			this.orders[i] = new Order("4711-" + i);
		}
	}

	@TearDown
	public void stop() {
		this.application.close();
	}

	private Order order() {
		return this.orders[this.next++ & (ORDERS - 1)];
	}

	@Benchmark
	public Object proxy() {
		return this.service.plain(order());
	}

	@Benchmark
	public Object itself() {
		return this.service.itself(order());
	}

	@Benchmark
	public Object variable() {
		return this.service.variable(order().getId());
	}

	@Benchmark
	public Object number() {
		return this.service.number(47_110_000L + (this.next++ & (ORDERS - 1)));
	}

	@Benchmark
	public Object property() {
		return this.service.property(order());
	}

	@Benchmark
	public Object propertyWithTimes() {
		return this.service.propertyWithTimes(order());
	}

	@Benchmark
	public Object concatenation() {
		return this.service.concatenation(order());
	}

	@Benchmark
	public Object twoExpressions() {
		return this.service.twoExpressions(order());
	}

}
