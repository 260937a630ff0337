package io.github.lockspring.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.DaemonThreadFactory;
import io.github.lockspring.redis.internal.client.RedisCommands;
import io.github.lockspring.redis.internal.client.RedisConnections;
import io.github.lockspring.redis.internal.client.RedisEndpoint;
import io.github.lockspring.redis.internal.client.RedisErrors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.SubscriptionListener;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.util.backoff.BackOffExecution;

/**
 * Keeps one channel subscribed, from {@link #begin()} to {@link #end()}.
 */
final class InboxSubscription {

	/*
	 * Threads. The keeper, one thread, does everything that can block: it subscribes,
	 * sends pings, discards a subscription that has failed or does not receive, and
	 * creates the next one; `container` and the fields after it are its own. Messages and
	 * subscription notices are handled where the driver reads them, in their order: on an
	 * I/O thread of Lettuce, or on the one that a Jedis subscription occupies. What
	 * happens there takes a lock for a moment and never waits for Redis. Any thread calls
	 * probe() and isConfirmed(), which touch the confirmation only.
	 *
	 * The container's own recovery is not used: it logs each attempt as an error and does
	 * not repeat the first one. Lettuce resubscribes automatically after a reconnect; a
	 * connection that only seems alive is detected by pings that do not arrive.
	 *
	 * Where commands and subscriptions may be at different servers, that of the
	 * subscription may stop replying while all requests succeed, and nothing would call
	 * probe(). There a ping is sent periodically, and a probe follows if no message has
	 * arrived until the next one. In a cluster each ping goes through another node:
	 * drivers choose the node of a PUBLISH by its channel, which may be the dead one.
	 */

	private static final Logger logger = LoggerFactory.getLogger(InboxSubscription.class);

	private static final Duration PAUSE = Duration.ofMillis(250);

	private static final Duration REFUSED_PAUSE = Duration.ofSeconds(15);

	private static final int MAX_QUICK_REFUSALS = 3;

	private static final int MAX_LOST_PINGS = 8;

	private static final Duration CHECK_INTERVAL = Duration.ofSeconds(2);

	/**
	 * From the ping that answered one probe to the next probe, since after each of them
	 * all waiters of this instance look: a key that the server refuses, or a shard that
	 * is down, must not keep them looking.
	 */
	private static final Duration PROBE_INTERVAL = Duration.ofSeconds(2);

	/**
	 * Connect, TLS, log in, say the name, subscribe: each may take as long as a command.
	 */
	private static final int REGISTRATION_STEPS = 5;

	private final RedisConnections connections;

	private final RedisCommands commands;

	private final RedisEndpoint endpoint;

	private final Duration commandTimeout;

	private final String channel;

	private final InboxMessages messages;

	private final ScheduledThreadPoolExecutor keeper;

	private final InboxConfirmation confirmation = new InboxConfirmation();

	/** When a probe may follow the last one; null: at once. */
	private volatile @Nullable Long nextProbe;

	private final AtomicBoolean probePostponed = new AtomicBoolean();

	private volatile boolean ended;

	private volatile @Nullable Container container;

	private @Nullable RedisConnectionFactory factory;

	private boolean pinging;

	private int lostPings;

	private int refusals;

	private long pings;

	InboxSubscription(RedisConnections connections, RedisCommands commands, RedisEndpoint endpoint,
			Duration commandTimeout, String channel, InboxMessages messages) {
		this.connections = connections;
		this.commands = commands;
		this.endpoint = endpoint;
		this.commandTimeout = commandTimeout;
		this.channel = channel;
		this.messages = messages;
		this.keeper = new ScheduledThreadPoolExecutor(1, new DaemonThreadFactory("lock-redis-inbox"));
		this.keeper.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		this.keeper.setKeepAliveTime(PAUSE.toMillis() * 4, TimeUnit.MILLISECONDS);
		this.keeper.allowCoreThreadTimeOut(true);
	}

	void begin() {
		schedule(Duration.ZERO, this::subscribe);
		if (this.connections.topology() != RedisConnections.Topology.SINGLE) {
			schedule(CHECK_INTERVAL, this::check);
		}
	}

	boolean isConfirmed() {
		return this.confirmation.isConfirmed();
	}

	void probe() {
		Long next = this.nextProbe;
		long early = (next != null) ? next - System.nanoTime() : 0;
		if (early <= 0) {
			this.confirmation.revoke();
			schedule(Duration.ZERO, this::beginPinging);
		}
		else if (this.probePostponed.compareAndSet(false, true)) {
			schedule(Duration.ofNanos(early).plusMillis(1), () -> {
				this.probePostponed.set(false);
				probe();
			});
		}
	}

	void end() {
		this.ended = true;
		this.confirmation.revoke();
		schedule(Duration.ZERO, () -> discard(true));
		this.keeper.shutdown();
		try {
			this.keeper.awaitTermination(2 * this.commandTimeout.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.keeper.shutdownNow();
	}

	private void schedule(Duration delay, Runnable task) {
		try {
			this.keeper.schedule(() -> {
				try {
					task.run();
				}
				catch (RuntimeException | Error ex) {
					logger.warn("A task of the inbox " + this.channel + " failed", ex);
				}
			}, delay.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.trace("The inbox has been closed", ex);
		}
	}

	private void subscribe() {
		if (this.ended || this.container != null) {
			return;
		}
		try {
			RedisConnectionFactory factory = this.connections.openSubscriber();
			this.factory = factory;
			Container container = new Container();
			this.container = container;
			container.setConnectionFactory(factory);
			// on the driver's thread: another one would have to be woken for each message
			container.setTaskExecutor(Runnable::run);
			// a new one each time: the thread of a dead Jedis subscription stays until
			// TCP gives up
			container.setSubscriptionExecutor(
					(task) -> new DaemonThreadFactory("lock-redis-inbox-subscriber").newThread(task).start());
			container.setMaxSubscriptionRegistrationWaitingTime(REGISTRATION_STEPS * this.commandTimeout.toMillis());
			container.addMessageListener(new Listener(container), new ChannelTopic(this.channel));
			container.afterPropertiesSet();
			container.start();
			this.refusals = 0;
			if (this.ended) {
				// the end has not waited for so long
				discard(true);
			}
		}
		catch (RuntimeException | Error ex) {
			// an error too: a machine may be out of threads for a moment
			logger.debug("The inbox " + this.channel + " cannot be subscribed at present", ex);
			discard(false);
			schedule(pauseAfter(ex), this::subscribe);
		}
	}

	// a refusal by the server will last for some time
	private Duration pauseAfter(Throwable failure) {
		if (!RedisErrors.isRefusal(failure)) {
			return PAUSE;
		}
		this.refusals++;
		// a refused login is reported by each request for a lock
		if (this.refusals == MAX_QUICK_REFUSALS && !RedisErrors.isLoginRefusal(failure)) {
			logger.warn("Redis{} refuses the subscription of {}, so waiters have to poll: {}", this.endpoint,
					this.channel, RedisErrors.describe(failure));
		}
		return (this.refusals < MAX_QUICK_REFUSALS) ? PAUSE : REFUSED_PAUSE;
	}

	private void discard(boolean alive) {
		Container container = this.container;
		RedisConnectionFactory factory = this.factory;
		this.container = null;
		this.factory = null;
		this.lostPings = 0;
		if (container != null && alive) {
			closeQuietly(container::stop);
		}
		if (factory != null) {
			closeQuietly(() -> this.connections.closeSubscriber(factory));
		}
	}

	private void closeQuietly(Runnable close) {
		try {
			close.run();
		}
		catch (RuntimeException ex) {
			logger.debug("The subscription of " + this.channel + " was not closed in order", ex);
		}
	}

	private void failed(Container failed) {
		if (this.container != failed || this.ended) {
			return;
		}
		this.confirmation.revoke();
		discard(false);
		schedule(PAUSE, this::subscribe);
	}

	private void beginPinging() {
		if (!this.pinging) {
			this.pinging = true;
			this.lostPings = 0;
			ping();
		}
	}

	private void ping() {
		if (isConfirmed() || this.ended) {
			this.pinging = false;
			return;
		}
		if (this.lostPings >= MAX_LOST_PINGS) {
			logger.debug("The inbox {} does not receive what is sent to it and is subscribed again", this.channel);
			discard(true);
			subscribe();
		}
		try {
			if (this.container != null) {
				sendPing();
				this.lostPings++;
			}
		}
		catch (RuntimeException | Error ex) {
			logger.debug("No ping can be sent to the inbox " + this.channel + " at present", ex);
			if (RedisErrors.isRefusal(ex)) {
				// no ping will ever confirm, so a new subscription has to
				discard(true);
				subscribe();
				schedule(REFUSED_PAUSE, this::ping);
				return;
			}
		}
		schedule(PAUSE, this::ping);
	}

	private void sendPing() {
		String ping = this.confirmation.ping();
		if (this.connections.topology() == RedisConnections.Topology.CLUSTER) {
			String anyKey = this.channel + ':' + ++this.pings;
			try {
				this.commands.executeOnce(RedisScripts.PUBLISH, List.of(anyKey), new Object[] { this.channel, ping },
						this.commandTimeout);
				return;
			}
			catch (LockUnavailableException ex) {
				logger.debug("A script could not publish to the inbox " + this.channel, ex);
			}
		}
		this.commands.publish(this.channel, ping);
	}

	private void check() {
		if (this.ended) {
			return;
		}
		boolean missed = isConfirmed() && this.confirmation.isCheckOutstanding();
		this.confirmation.setCheckOutstanding(false);
		if (missed) {
			probe();
		}
		else if (isConfirmed()) {
			this.confirmation.setCheckOutstanding(true);
			try {
				sendPing();
			}
			catch (RuntimeException | Error ex) {
				// a ping that was not sent proves nothing
				this.confirmation.setCheckOutstanding(false);
				logger.debug("No ping can be sent to the inbox " + this.channel + " at present", ex);
			}
		}
		schedule(CHECK_INTERVAL, this::check);
	}

	private final class Listener implements MessageListener, SubscriptionListener {

		private final Container container;

		Listener(Container container) {
			this.container = container;
		}

		@Override
		public void onMessage(Message message, byte @Nullable [] pattern) {
			InboxSubscription inbox = InboxSubscription.this;
			String text = new String(message.getBody(), StandardCharsets.UTF_8);
			inbox.confirmation.setCheckOutstanding(false);
			if (!InboxConfirmation.isPing(text)) {
				inbox.messages.receive(text);
			}
			else if (!inbox.ended && inbox.confirmation.confirm(text)) {
				inbox.nextProbe = System.nanoTime() + PROBE_INTERVAL.toNanos();
				inbox.messages.opened();
			}
		}

		@Override
		public void onChannelSubscribed(byte[] channel, long count) {
			InboxSubscription inbox = InboxSubscription.this;
			if (inbox.ended || inbox.container != this.container) {
				// later than anybody waited for it: a driver may keep its thread for ever
				new DaemonThreadFactory("lock-redis-inbox-end").newThread(() -> closeQuietly(this.container::stop))
					.start();
			}
			else {
				inbox.confirmation.subscribed();
				inbox.messages.opened();
			}
		}

	}

	private final class Container extends RedisMessageListenerContainer {

		@Override
		protected void handleSubscriptionException(CompletableFuture<Void> future, BackOffExecution backOffExecution,
				Throwable cause) {
			logger.debug("The subscription ended", cause);
			future.completeExceptionally(cause);
			schedule(Duration.ZERO, () -> failed(this));
		}

	}

}
