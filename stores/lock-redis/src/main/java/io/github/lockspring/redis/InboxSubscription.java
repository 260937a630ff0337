package io.github.lockspring.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.internal.base.DaemonThreadFactory;
import io.github.lockspring.redis.internal.client.RedisConnections;
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
/*
 * For maintainers: the keeper, one thread, does everything that can block: it subscribes,
 * checks, discards a subscription that has failed or does not receive, and creates the
 * next one; `container` and the fields after it are its own. Messages and subscription
 * notices are handled where the driver reads them, in their order: on an I/O thread of
 * Lettuce, or on the one that a Jedis subscription occupies. What happens there never
 * waits. Any thread calls isConfirmed().
 *
 * The container's own recovery is not used: it logs each attempt as an error and does not
 * repeat the first one. Lettuce resubscribes automatically after a reconnect.
 *
 * A subscription may have ended at the server, be at a server that was replaced, or have
 * a connection that only seems alive. So while somebody asks whether it is confirmed, a
 * script asks the server of the commands for its subscribers, as a release does, and
 * sends it a message, every other second. It is subscribed again if one server has none,
 * or if the message has not arrived until the next check. In a cluster each check goes
 * through another node.
 */
final class InboxSubscription {

	private static final Logger logger = LoggerFactory.getLogger(InboxSubscription.class);

	private static final Duration PAUSE = Duration.ofMillis(250);

	private static final Duration REFUSED_PAUSE = Duration.ofSeconds(15);

	private static final int MAX_QUICK_REFUSALS = 3;

	private static final Duration CHECK_INTERVAL = Duration.ofSeconds(2);

	private static final String CHECK_MESSAGE = "p";

	/**
	 * Connect, TLS, log in, say the name, subscribe: each may take as long as a command.
	 */
	private static final int REGISTRATION_STEPS = 5;

	private final RedisConnections connections;

	private final Duration commandTimeout;

	private final String channel;

	private final InboxMessages messages;

	private final ScheduledThreadPoolExecutor keeper;

	private volatile boolean confirmed;

	/** Whether somebody has asked since the last check. */
	private volatile boolean needed;

	/** Whether a message has arrived since the last check. */
	private volatile boolean received;

	private volatile boolean ended;

	private volatile @Nullable Container container;

	private @Nullable RedisConnectionFactory factory;

	private boolean messageSent;

	private int refusals;

	private long checks;

	InboxSubscription(RedisConnections connections, Duration commandTimeout, String channel, InboxMessages messages) {
		this.connections = connections;
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
		schedule(CHECK_INTERVAL, this::check);
	}

	boolean isConfirmed() {
		this.needed = true;
		return this.confirmed;
	}

	void end() {
		this.ended = true;
		this.confirmed = false;
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
			logger.warn("Redis{} refuses the subscription of {}, so waiters have to poll: {}",
					this.connections.endpoint(), this.channel, RedisErrors.describe(failure));
		}
		return (this.refusals < MAX_QUICK_REFUSALS) ? PAUSE : REFUSED_PAUSE;
	}

	private void discard(boolean alive) {
		Container container = this.container;
		RedisConnectionFactory factory = this.factory;
		this.container = null;
		this.factory = null;
		this.messageSent = false;
		if (container != null && alive) {
			closeQuietly(container::stop);
		}
		if (factory != null) {
			closeQuietly(() -> this.connections.close(factory));
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
		this.confirmed = false;
		discard(false);
		schedule(PAUSE, this::subscribe);
	}

	private void check() {
		if (this.ended) {
			return;
		}
		Container checked = this.container;
		if (this.messageSent && !this.received) {
			subscribeAgain();
		}
		else if (this.confirmed && this.needed && checked != null) {
			this.needed = false;
			this.messageSent = false;
			this.received = false;
			List<String> anyKey = List.of(this.channel + ':' + ++this.checks);
			this.connections
				.execute(RedisScripts.CONFIRM, anyKey, new Object[] { this.channel, CHECK_MESSAGE },
						this.commandTimeout)
				.thenAccept((reply) -> schedule(Duration.ZERO, () -> checked(checked, reply)));
		}
		schedule(CHECK_INTERVAL, this::check);
	}

	private void checked(Container checked, String reply) {
		if (this.container != checked || this.ended) {
			return;
		}
		if (this.connections.topology().isOneServer() && reply.startsWith("0 ")) {
			subscribeAgain();
		}
		else {
			this.messageSent = reply.endsWith(" 1");
		}
	}

	private void subscribeAgain() {
		logger.debug("The inbox {} does not receive what is sent to it and is subscribed again", this.channel);
		this.confirmed = false;
		discard(true);
		subscribe();
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
			inbox.received = true;
			if (!text.equals(CHECK_MESSAGE)) {
				inbox.messages.receive(text);
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
				inbox.confirmed = true;
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
