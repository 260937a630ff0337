package io.github.lockspring.redis.internal.client;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

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
 * The server of a store, as its messages name it. Immutable and thread-safe.
 *
 * @param server the address, as {@code host:port}, of a single server; null if there are
 * several, or it is not known
 * @param address where it is, to follow "Redis"
 * @param details what messages contain besides the address, such as
 * {@code "database 0, user 'app'"}
 * @since 0.1
 */
public record RedisEndpoint(@Nullable String server, String address, String details) {

	/** The details of a server with the default database and without a login. */
	public static final String DEFAULT_DETAILS = "database 0, no password";

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
	 * @param beanName the name of the connection factory, if messages are to contain it
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

	boolean isTls() {
		return this.details.startsWith("TLS");
	}

	/**
	 * Returns the address, as {@code host:port}, of a single server.
	 * @return the address, or empty if it is not known
	 */
	public Optional<String> name() {
		return Optional.ofNullable(this.server);
	}

}
