package io.github.lockspring.benchmarks.micro;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

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
 * A call of an annotated, empty method that locks each element of a collection.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
@SuppressWarnings("NullAway.Init")
public class CollectionKeysBenchmark {

	@Param({ MicroApplication.NOTHING, MicroApplication.MEMORY })
	public String locks = "";

	@Param({ "1", "10", "100", "1000" })
	public int size;

	private List<String> ids = List.of();

	private OrderService service;

	private ConfigurableApplicationContext application;

	@Setup
	public void start() {
		this.application = MicroApplication.start(this.locks);
		this.service = this.application.getBean(OrderService.class);
		this.ids = IntStream.range(0, this.size).mapToObj((i) -> "4711-" + i * 7919 % 10_007).toList();
	}

	@TearDown
	public void stop() {
		this.application.close();
	}

	@Benchmark
	public Object collection() {
		return this.service.collection(this.ids);
	}

}
