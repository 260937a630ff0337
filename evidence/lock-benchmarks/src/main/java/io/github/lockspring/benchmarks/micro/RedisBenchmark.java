package io.github.lockspring.benchmarks.micro;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * One thread and a free lock on a redis-server, beside the least that any lock on Redis
 * can do: a SET and a script that compares and deletes, through the same driver. How
 * other libraries do is the contention benchmark's matter.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
@SuppressWarnings("NullAway.Init")
public class RedisBenchmark {

	private static final String KEY = "order:4711";

	private static final String COMPARE_AND_DELETE = """
			if redis.call('get', KEYS[1]) == ARGV[1] then
				return redis.call('del', KEYS[1])
			end
			return 0
			""";

	private final LockRequest request = LockRequest.of(KEY);

	private RedisServer redis;

	private RedisClient client;

	private RedisCommands<String, String> commands;

	private String script;

	private ConfigurableApplicationContext application;

	private LockTemplate template;

	@Setup
	public void start() {
		this.redis = RedisServer.start();
		this.client = RedisClient.create(RedisURI.create(this.redis.host(), this.redis.port()));
		this.commands = this.client.connect().sync();
		this.script = this.commands.scriptLoad(COMPARE_AND_DELETE);
		this.application = MicroApplication.start(Map.of("spring.data.redis.port", this.redis.port()));
		this.template = this.application.getBean(LockTemplate.class);
	}

	@TearDown
	public void stop() {
		this.application.close();
		this.client.shutdown();
		this.redis.close();
	}

	@Benchmark
	public @Nullable Object floor() {
		String token = UUID.randomUUID().toString();
		this.commands.set("floor:" + KEY, token, SetArgs.Builder.nx().px(30_000));
		return this.commands.<Long>evalsha(this.script, ScriptOutputType.INTEGER, new String[] { "floor:" + KEY },
				token);
	}

	@Benchmark
	public Object execute() {
		return this.template.execute(this.request, HeldLock::fencingToken);
	}

}
