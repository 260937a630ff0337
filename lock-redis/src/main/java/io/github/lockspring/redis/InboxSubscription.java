package io.github.lockspring.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.NestedExceptionUtils;
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
	 * sends pings, throws away a subscription that failed or fell silent, and makes the
	 * next one; `container` and the fields after it are its own. Messages and
	 * subscription notices are handled where the driver reads them, in their order: on an
	 * I/O thread of Lettuce, or on the one that a Jedis subscription occupies. What
	 * happens there takes a lock for a moment and never waits for Redis. doubt() and
	 * isConfirmed() are called by anybody and touch volatile fields only.
	 *
	 * Confirmation. A notice that the channel is subscribed confirms. doubt() takes that
	 * back and counts: only the ping that carries the present count confirms again, so
	 * that a ping on its way when the doubt arose proves nothing.
	 *
	 * Recovery is ours, not the container's, which logs each attempt as an error and does
	 * not repeat the first one. Lettuce resubscribes by itself after a reconnect; a
	 * connection that only looks alive is noticed by pings that were sent and did not
	 * come back.
	 *
	 * Where commands and subscriptions may be at different servers, the one of the
	 * subscription may fall silent while all requests are answered, so that nobody would
	 * doubt. There a ping is sent from time to time, and doubts if the one before has not
	 * come back. In a cluster each ping goes by another node, since drivers choose the
	 * node of a PUBLISH by its channel: that may be the very one that has died.
	 */

	private static final Logger logger = LoggerFactory.getLogger(InboxSubscription.class);

	private static final Duration PAUSE = Duration.ofMillis(250);

	private static final Duration LONG_PAUSE = Duration.ofSeconds(15);

	private static final int QUICK_ATTEMPTS_AFTER_REFUSAL = 3;

	private static final int LOST_PINGS_BEFORE_NEW_SUBSCRIPTION = 8;

	private static final Duration CHECK_INTERVAL = Duration.ofSeconds(2);

	private static final String PING = "p ";

	private final RedisConnections connections;

	private final RedisCommands commands;

	private final Duration commandTimeout;

	private final String channel;

	private final InboxMessages messages;

	private final ScheduledThreadPoolExecutor keeper;

	private volatile boolean confirmed;

	private volatile long doubts;

	private volatile boolean ended;

	private volatile boolean checkAnswered = true;

	private @Nullable Container container;

	private @Nullable RedisConnectionFactory factory;

	private boolean pinging;

	private int lostPings;

	private int refusals;

	private long pings;

	InboxSubscription(RedisConnections connections, RedisCommands commands, Duration commandTimeout, String channel,
			InboxMessages messages) {
		this.connections = connections;
		this.commands = commands;
		this.commandTimeout = commandTimeout;
		this.channel = channel;
		this.messages = messages;
		this.keeper = new ScheduledThreadPoolExecutor(1, (task) -> DaemonThreads.thread("lock-redis-inbox", task));
		this.keeper.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		this.keeper.setKeepAliveTime(PAUSE.toMillis() * 4, TimeUnit.MILLISECONDS);
		this.keeper.allowCoreThreadTimeOut(true);
	}

	void begin() {
		later(Duration.ZERO, this::subscribe);
		if (this.connections.topology() != RedisConnections.Topology.SINGLE) {
			later(CHECK_INTERVAL, this::check);
		}
	}

	boolean isConfirmed() {
		return this.confirmed;
	}

	void probe() {
		unconfirm();
		later(Duration.ZERO, this::beginPinging);
	}

	// the only writers of the two fields together; neither blocks
	private synchronized void unconfirm() {
		this.doubts++;
		this.confirmed = false;
	}

	private synchronized boolean confirm(long doubts) {
		if (doubts != this.doubts || this.confirmed) {
			return false;
		}
		this.confirmed = true;
		return true;
	}

	void end() {
		this.ended = true;
		unconfirm();
		later(Duration.ZERO, () -> discard(true));
		this.keeper.shutdown();
		try {
			this.keeper.awaitTermination(2 * this.commandTimeout.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.keeper.shutdownNow();
	}

	private void later(Duration delay, Runnable task) {
		try {
			this.keeper.schedule(() -> {
				try {
					task.run();
				}
				catch (RuntimeException | Error ex) {
					logger.warn("The inbox " + this.channel + " is in trouble", ex);
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
		Container container = null;
		try {
			RedisConnectionFactory factory = this.connections.openSubscriber().orElse(null);
			if (factory == null) {
				return;
			}
			this.factory = factory;
			container = new Container();
			this.container = container;
			container.setConnectionFactory(factory);
			// on the driver's own thread: another one would cost each hand-over a wake-up
			container.setTaskExecutor(Runnable::run);
			// its own each time: that of a dead Jedis subscription stays until TCP gives
			// up
			container
				.setSubscriptionExecutor((task) -> DaemonThreads.thread("lock-redis-inbox-subscriber", task).start());
			container.setMaxSubscriptionRegistrationWaitingTime(this.commandTimeout.toMillis());
			container.addMessageListener(new Listener(), new ChannelTopic(this.channel));
			container.afterPropertiesSet();
			container.start();
			this.refusals = 0;
		}
		catch (RuntimeException | Error ex) {
			// an error too: a machine may be out of threads for a moment
			logger.debug("The inbox " + this.channel + " cannot be subscribed at present", ex);
			discard(false);
			later(pauseAfter(ex), this::subscribe);
		}
	}

	// what the server refuses it will refuse for some time
	private Duration pauseAfter(Throwable failure) {
		if (!isRefusal(failure)) {
			return PAUSE;
		}
		String words = String.valueOf(NestedExceptionUtils.getMostSpecificCause(failure).getMessage());
		this.refusals++;
		if (this.refusals == QUICK_ATTEMPTS_AFTER_REFUSAL) {
			logger.warn("Redis refuses the subscription of " + this.channel
					+ ": locks work, but waiters have to ask again and again. It says: " + words);
		}
		return (this.refusals < QUICK_ATTEMPTS_AFTER_REFUSAL) ? PAUSE : LONG_PAUSE;
	}

	private static boolean isRefusal(Throwable failure) {
		String words = String.valueOf(NestedExceptionUtils.getMostSpecificCause(failure).getMessage());
		return words.contains("NOPERM") || words.contains("NOAUTH");
	}

	private void discard(boolean alive) {
		Container container = this.container;
		RedisConnectionFactory factory = this.factory;
		this.container = null;
		this.factory = null;
		this.lostPings = 0;
		try {
			if (container != null && alive) {
				container.stop();
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The subscription of " + this.channel + " did not end in order", ex);
		}
		try {
			if (factory != null) {
				this.connections.closeSubscriber(factory);
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The connection of " + this.channel + " did not end in order", ex);
		}
	}

	private void failed(Container failed) {
		if (this.container != failed || this.ended) {
			return;
		}
		unconfirm();
		discard(false);
		later(PAUSE, this::subscribe);
	}

	private void beginPinging() {
		if (!this.pinging) {
			this.pinging = true;
			this.lostPings = 0;
			ping();
		}
	}

	private void ping() {
		if (this.confirmed || this.ended) {
			this.pinging = false;
			return;
		}
		if (this.lostPings >= LOST_PINGS_BEFORE_NEW_SUBSCRIPTION) {
			logger.debug("The inbox " + this.channel + " does not receive what is sent to it: subscribing anew");
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
			logger.debug("The inbox " + this.channel + " cannot be tried at present", ex);
			if (isRefusal(ex)) {
				// no message will ever prove anything, so a new subscription has to
				discard(true);
				subscribe();
				later(LONG_PAUSE, this::ping);
				return;
			}
		}
		later(PAUSE, this::ping);
	}

	private void sendPing() {
		String text = PING + this.doubts;
		if (this.connections.topology() == RedisConnections.Topology.CLUSTER) {
			String anyKey = this.channel + ':' + ++this.pings;
			try {
				this.commands.runOnce(RedisScripts.PUBLISH, List.of(anyKey), new Object[] { this.channel, text },
						this.commandTimeout);
				return;
			}
			catch (LockUnavailableException ex) {
				logger.debug("A script could not publish for the inbox " + this.channel, ex);
			}
		}
		this.commands.publish(this.channel, text);
	}

	private void check() {
		if (this.ended) {
			return;
		}
		if (!this.confirmed) {
			this.checkAnswered = true;
		}
		else if (!this.checkAnswered) {
			this.checkAnswered = true;
			probe();
		}
		else {
			this.checkAnswered = false;
			try {
				sendPing();
			}
			catch (RuntimeException | Error ex) {
				// what was not sent proves nothing
				this.checkAnswered = true;
				logger.debug("The inbox " + this.channel + " cannot be tried at present", ex);
			}
		}
		later(CHECK_INTERVAL, this::check);
	}

	private final class Listener implements MessageListener, SubscriptionListener {

		@Override
		public void onMessage(Message message, byte @Nullable [] pattern) {
			String text = new String(message.getBody(), StandardCharsets.UTF_8);
			InboxSubscription.this.checkAnswered = true;
			if (!text.startsWith(PING)) {
				InboxSubscription.this.messages.receive(text);
			}
			else if (text.equals(PING + InboxSubscription.this.doubts)) {
				confirmAndTell();
			}
		}

		@Override
		public void onChannelSubscribed(byte[] channel, long count) {
			unconfirm();
			confirmAndTell();
		}

		private void confirmAndTell() {
			InboxSubscription inbox = InboxSubscription.this;
			if (!inbox.ended && inbox.confirm(inbox.doubts)) {
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
			later(Duration.ZERO, () -> failed(this));
		}

	}

}
