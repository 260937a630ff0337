package io.github.lockspring.redis.internal.client;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import io.github.lockspring.internal.base.DaemonThreadFactory;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.BeansException;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * A Lettuce client beside the application's. Sends scripts by the driver's asynchronous
 * commands.
 */
/*
 * For maintainers: Lettuce multiplexes all threads over one connection to each server, in
 * the order in which they send. Connecting blocks, under a lock of the factory, so a
 * thread of its own does that. `connecting` is null (never tried), running, failed, or
 * completed with the commands of the connection. Afterwards Lettuce reconnects
 * automatically and rejects commands meanwhile. A caller that finds no connection begins
 * to connect, and what is sent meanwhile waits for the end of that, in order.
 *
 * - A connection whose other end has vanished silently seems open until TCP gives up, a
 * quarter of an hour later. It is replaced when something is sent to a server that has
 * been silent for too long; in a cluster only the one to that node.
 *
 * - A master that has become a replica continues to reply, with READONLY, as long as its
 * connections stay open. Its connection is replaced too: the sentinels name the new
 * master by then.
 *
 * What is sent to a silent server stays with the driver until its connection is replaced;
 * the driver refuses more than a limit.
 *
 * A script that is sent by its digest to a server that does not know it is sent again as
 * text, and would be carried out after the commands that follow it. So its digest is used
 * only when it has been carried out since the connection was made; in a cluster perhaps
 * by another node, but there the store promises no order. What an operator's SCRIPT FLUSH
 * makes of the order is accepted: by the contract of LockStore, a late release or
 * acquisition changes no lock of another owner.
 */
final class LettuceConnections extends RedisConnections implements RedisConnectionStateListener {

	private static final Logger logger = LoggerFactory.getLogger(LettuceConnections.class);

	private final DerivedLettuceConfiguration derived;

	private final SharedLettuceConnectionFactory factory;

	private final StringRedisTemplate template;

	private final Executor connector;

	private final AtomicReference<@Nullable Connecting> connecting = new AtomicReference<>();

	/** The digests of scripts that a server has carried out. */
	private final Set<String> knownScripts = ConcurrentHashMap.newKeySet();

	private final ScriptSender scripts = new ScriptSender();

	private volatile boolean closed;

	private final AtomicBoolean disconnected = new AtomicBoolean();

	LettuceConnections(DerivedLettuceConfiguration derived, RedisEndpoint endpoint) {
		this(derived, endpoint, (task) -> new DaemonThreadFactory("lock-redis-connect").newThread(task).start());
	}

	LettuceConnections(DerivedLettuceConfiguration derived, RedisEndpoint endpoint, Executor connector) {
		super(endpoint, derived.topology(), derived.commandTimeout());
		this.derived = derived;
		this.connector = connector;
		this.factory = derived.sharedFactory();
		this.template = new StringRedisTemplate(this.factory);
	}

	/**
	 * Creates connections to the server of an application's factory. Does not connect.
	 * @param beanName the name of the factory, if messages are to contain it
	 * @return null if the factory has no address of its server
	 */
	static @Nullable LettuceConnections of(LettuceConnectionFactory application, @Nullable String beanName,
			Duration commandTimeout, Duration connectTimeout) {
		LettuceClientConfiguration client = application.getClientConfiguration();
		try {
			// for a static master and replicas, the getters return the default: localhost
			RedisConfiguration where = Objects.requireNonNull(
					(RedisConfiguration) new DirectFieldAccessor(application).getPropertyValue("configuration"));
			return new LettuceConnections(
					new DerivedLettuceConfiguration(client, where, commandTimeout, connectTimeout),
					RedisEndpoint.of(where, client.isUseSsl(), client.getRedisCredentialsProviderFactory().isPresent(),
							beanName));
		}
		catch (BeansException ex) {
			logger.debug("The connection factory's configuration cannot be read", ex);
			return null;
		}
	}

	@Override
	<T> CompletionStage<T> send(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		Connecting present = connecting();
		if (!present.isOpen()) {
			return present.whenOpen((commands) -> evaluate(commands, script, keys, args));
		}
		try {
			return evaluate(present.connection.join(), script, keys, args);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private <T> CompletionStage<T> evaluate(RedisScriptingAsyncCommands<byte[], byte[]> commands, RedisScript<T> script,
			List<String> keys, Object[] args) {
		byte[][] keyBytes = ScriptSender.bytes(keys);
		byte[][] argBytes = ScriptSender.bytes(Arrays.asList(args));
		ScriptOutputType type = (script.getResultType() == String.class) ? ScriptOutputType.VALUE
				: ScriptOutputType.MULTI;
		String digest = script.getSha1();
		CompletionStage<Object> reply = !this.scripts.takesDigests() || !this.knownScripts.contains(digest)
				? commands.eval(script.getScriptAsString(), type, keyBytes, argBytes)
				: commands.<Object>evalsha(digest, type, keyBytes, argBytes)
					.exceptionallyCompose((failure) -> isTextNeeded(digest, failure)
							? commands.eval(script.getScriptAsString(), type, keyBytes, argBytes)
							: CompletableFuture.failedFuture(failure));
		return reply.thenApply((value) -> {
			this.knownScripts.add(digest);
			return ScriptSender.<T>decode(value);
		});
	}

	private boolean isTextNeeded(String digest, Throwable failure) {
		this.knownScripts.remove(digest);
		return this.scripts.isTextNeeded(failure);
	}

	/**
	 * Forgets which scripts servers have: at the other end of a new connection there may
	 * be a new one.
	 */
	@Override
	public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
		this.knownScripts.clear();
	}

	private Connecting connecting() {
		Connecting present = this.connecting.get();
		return (present != null && !present.connection.isCompletedExceptionally()) ? present : begin(present);
	}

	/**
	 * Begins to connect, unless another thread has done that.
	 */
	private Connecting begin(@Nullable Connecting before) {
		Connecting mine = new Connecting();
		if (this.connecting.compareAndSet(before, mine)) {
			inBackground(mine.connection, () -> connect(before != null, mine.connection));
		}
		return Objects.requireNonNull(this.connecting.get());
	}

	private void connect(boolean again, CompletableFuture<RedisScriptingAsyncCommands<byte[], byte[]>> mine) {
		if (this.closed) {
			throw new IllegalStateException("The lock store is closed");
		}
		this.factory.start();
		if (again) {
			this.factory.resetConnection();
		}
		AbstractRedisClient client = this.factory.getRequiredNativeClient();
		client.removeListener(this);
		client.addListener(this);
		mine.complete(this.factory.scripts());
		disconnectIfClosed();
	}

	@Override
	void replace(String shard) {
		Connecting present = this.connecting.get();
		if (!shard.equals(ANY_SHARD)) {
			inBackground(new CompletableFuture<>(), () -> this.factory.disconnect(shard));
		}
		else if (present != null && present.connection.isDone()) {
			begin(present);
		}
	}

	@Override
	<T extends @Nullable Object> T call(Function<StringRedisTemplate, T> commands) {
		awaitConnection();
		return commands.apply(this.template);
	}

	private void awaitConnection() {
		connecting().connection.copy().orTimeout(commandTimeout().toNanos(), TimeUnit.NANOSECONDS).join();
	}

	@Override
	public boolean isBlocking() {
		return false;
	}

	/**
	 * The client does not do that while commands only time out.
	 */
	@Override
	void refreshNodes() {
		awaitConnection();
		((RedisClusterClient) this.factory.getRequiredNativeClient()).refreshPartitions();
	}

	/*
	 * Connecting always ends, even if the machine has no thread for it: callers would
	 * otherwise wait for it for ever.
	 */
	private void inBackground(CompletableFuture<?> mine, Runnable task) {
		try {
			this.connector.execute(() -> {
				try {
					task.run();
				}
				catch (RuntimeException | Error ex) {
					failed(mine, ex);
				}
			});
		}
		catch (RuntimeException | Error ex) {
			failed(mine, ex);
		}
	}

	private void failed(CompletableFuture<?> mine, Throwable ex) {
		mine.completeExceptionally(new RedisConnectionFailureException("Unable to connect to Redis", ex));
		disconnectIfClosed();
	}

	@Override
	public RedisConnectionFactory openSubscriber() {
		return this.derived.openSubscriber(shard(String.valueOf(ThreadLocalRandom.current().nextInt())));
	}

	@Override
	RedisConnectionFactory openDedicated(int size) {
		return this.derived.openDedicated();
	}

	@Override
	public void close(RedisConnectionFactory factory) {
		((SharedLettuceConnectionFactory) factory).destroy();
	}

	@Override
	long waitForReplicas(RedisConnection connection, byte[] replicas, byte[] millis) {
		return (Long) Objects.requireNonNull(((LettuceConnection) connection).execute("WAIT",
				new IntegerOutput<>(ByteArrayCodec.INSTANCE), replicas, millis));
	}

	/*
	 * While a thread connects, it has the factory's lock, perhaps for as long as a server
	 * does not reply. It then closes the connection itself.
	 */
	@Override
	public void close() {
		super.close();
		this.closed = true;
		Connecting present = this.connecting.get();
		if (present == null || present.connection.isDone()) {
			disconnectIfClosed();
		}
	}

	private void disconnectIfClosed() {
		if (this.closed && this.disconnected.compareAndSet(false, true)) {
			this.factory.destroy();
			this.derived.shutdownResources();
		}
	}

	/**
	 * An attempt to connect, and what has been sent since it began.
	 */
	private static final class Connecting {

		private final CompletableFuture<RedisScriptingAsyncCommands<byte[], byte[]>> connection = new CompletableFuture<>();

		/** Done when everything before has been sent, or cannot be. */
		private volatile CompletableFuture<?> last = this.connection;

		/** Returns whether a request need not wait. */
		boolean isOpen() {
			return this.last.isDone() && !this.connection.isCompletedExceptionally();
		}

		synchronized <T> CompletionStage<T> whenOpen(
				Function<RedisScriptingAsyncCommands<byte[], byte[]>, CompletionStage<T>> request) {
			CompletableFuture<CompletionStage<T>> sent = this.last
				.handle((before, failure) -> request.apply(this.connection.join()));
			this.last = sent;
			return sent.thenCompose(Function.identity());
		}

	}

}
