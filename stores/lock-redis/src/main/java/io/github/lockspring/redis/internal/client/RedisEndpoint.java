package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.NamedNode;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.ClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.SentinelConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.WithDomainSocket;
import org.springframework.data.redis.connection.RedisConfiguration.WithHostAndPort;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.util.StringUtils;

/**
 * The server of a store, as its messages name it, and whether it has ever replied.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class RedisEndpoint {

	/*
	 * An address that is wrong at the first connection will not become right. One that
	 * was right before may be right again soon: name servers fail, and while a server
	 * restarts, something else may reply in its place.
	 */

	/** Of a server whose address says everything. */
	public static final String DEFAULT_DETAILS = "database 0, no password";

	private final String address;

	private final String details;

	private final @Nullable String name;

	private volatile boolean replied;

	private RedisEndpoint(@Nullable String name, String address, String details) {
		this.name = name;
		this.address = address;
		this.details = details;
	}

	/**
	 * Describes a server of a configuration that is not known.
	 */
	static RedisEndpoint of(RedisConnectionFactory factory, @Nullable String beanName) {
		return new RedisEndpoint(null, " of a " + factory.getClass().getName(),
				(beanName != null) ? "bean '" + beanName + "'" : "");
	}

	/**
	 * Describes the server of a configuration.
	 * @param credentialsProvider whether user and password come from elsewhere
	 * @param beanName the name of the connection factory, if that is to be told
	 */
	static RedisEndpoint of(RedisConfiguration configuration, boolean tls, boolean credentialsProvider,
			@Nullable String beanName) {
		List<String> details = new ArrayList<>();
		if (tls) {
			details.add("TLS");
		}
		if (!RedisConfiguration.isClusterConfiguration(configuration)) {
			details.add("database " + RedisConfiguration.getDatabaseOrElse(configuration, () -> 0));
		}
		details.add(credentialsProvider ? "user of a credentials provider" : user(configuration));
		if (beanName != null) {
			details.add("bean '" + beanName + "'");
		}
		List<String> addresses = addresses(configuration);
		return new RedisEndpoint((addresses.size() == 1) ? addresses.get(0) : null,
				kind(configuration) + String.join(", ", addresses), String.join(", ", details));
	}

	private static String user(RedisConfiguration configuration) {
		String name = RedisConfiguration.getUsernameOrElse(configuration, () -> "");
		if (StringUtils.hasText(name)) {
			return "user '" + name + "'";
		}
		return RedisConfiguration.getPasswordOrElse(configuration, RedisPassword::none).isPresent() ? "user 'default'"
				: "no password";
	}

	private static String kind(RedisConfiguration configuration) {
		if (configuration instanceof SentinelConfiguration sentinel) {
			NamedNode master = sentinel.getMaster();
			return " master '" + ((master != null) ? master.getName() : "") + "' of the sentinels ";
		}
		return (configuration instanceof ClusterConfiguration) ? " Cluster at " : " at ";
	}

	private static List<String> addresses(RedisConfiguration configuration) {
		if (configuration instanceof SentinelConfiguration sentinel) {
			return sorted(sentinel.getSentinels());
		}
		if (configuration instanceof ClusterConfiguration cluster) {
			return sorted(cluster.getClusterNodes());
		}
		if (configuration instanceof WithHostAndPort server) {
			return List.of(new RedisNode(server.getHostName(), server.getPort()).asString());
		}
		return List.of((configuration instanceof WithDomainSocket socket) ? socket.getSocket() : "several addresses");
	}

	private static List<String> sorted(Collection<RedisNode> nodes) {
		return nodes.stream().map(RedisNode::asString).sorted().toList();
	}

	/**
	 * Returns a description to follow "Redis", without a password.
	 * @return such as {@code " at localhost:6379 (database 0, user 'app')"}
	 */
	@Override
	public String toString() {
		return this.details.isEmpty() ? this.address : this.address + " (" + this.details + ")";
	}

	/**
	 * Returns the address, as {@code host:port}, of a single server.
	 * @return the address, or empty if it is not known
	 */
	public Optional<String> name() {
		return Optional.ofNullable(this.name);
	}

	/**
	 * Returns what is to be said besides the address.
	 * @return such as {@code "database 0, user 'app'"}
	 */
	public String details() {
		return this.details;
	}

	/**
	 * Returns the reply to a script.
	 * @throws LockUnavailableException without one
	 */
	<T> T usable(@Nullable T reply, @Nullable Throwable failure, Duration timeout) {
		if (failure != null) {
			throw unavailable(timeout, failure);
		}
		if (reply == null) {
			throw RedisErrors.noReply();
		}
		this.replied = true;
		return reply;
	}

	/**
	 * Translates a failure of a driver or of Spring Data.
	 * @param timeout how long the caller waited
	 * @param failure the failure
	 * @return the exception to throw
	 */
	LockUnavailableException unavailable(Duration timeout, Throwable failure) {
		if (failure instanceof CompletionException && failure.getCause() != null) {
			return unavailable(timeout, failure.getCause());
		}
		if (failure instanceof LockUnavailableException unavailable) {
			return unavailable;
		}
		if (RedisErrors.isInterrupt(failure)) {
			return RedisErrors.interrupted(failure);
		}
		String server = "Redis" + this;
		if (RedisErrors.isReplyMissing(failure)) {
			return new LockUnavailableException(server + " did not reply within " + RedisErrors.format(timeout),
					failure);
		}
		if (RedisErrors.isErrorReply(failure)) {
			this.replied = true;
		}
		boolean permanent = RedisErrors.isRefusal(failure)
				|| !this.replied && this.name != null && RedisErrors.isWrongAddress(failure);
		return new LockUnavailableException(server + ": " + RedisErrors.problems(failure), RedisErrors.remedy(failure),
				failure, permanent);
	}

}
