package io.github.lockspring.autoconfigure;

import java.beans.PropertyDescriptor;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockspring.internal.aop.Suggestions;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.origin.Origin;

/**
 * Explains properties that do not exist. Whole groups that are none of ours may be those
 * of somebody else's store, and are left alone.
 */
final class LockPropertyNames {

	private static final Pattern INDEX = Pattern.compile("\\[\\d+]");

	/** Properties that people may know, and what there is instead. */
	private static final Map<String, String> GONE = gone();

	private LockPropertyNames() {
	}

	private static Map<String, String> gone() {
		Map<String, String> gone = new HashMap<>();
		put(gone, "use distributed-lock.command-timeout, which is that of any store", "redis.command-timeout",
				"jdbc.command-timeout", "zookeeper.command-timeout", "etcd.command-timeout");
		put(gone, "the first lock waits up to 5s for a connection", "redis.connect-timeout", "jdbc.connect-timeout",
				"zookeeper.connect-timeout", "etcd.connect-timeout");
		put(gone, "leases are renewed after a third of their ttl", "renewal.interval");
		put(gone, "one command renews at most 100 leases", "renewal.batch-size");
		put(gone, "an instance hands a lock off between its own threads for at most 10ms while others wait",
				"fairness.max-handoff-time");
		put(gone, "messages are always on, and waiters that none reaches ask again by themselves",
				"redis.notifications");
		put(gone, "the connection is that of spring.data.redis.*", "redis.host", "redis.port", "redis.password",
				"redis.username", "redis.database", "redis.url", "redis.ssl", "redis.ssl.enabled", "redis.ssl.bundle",
				"redis.timeout", "redis.sentinel.master", "redis.sentinel.nodes", "redis.cluster.nodes");
		put(gone, "replicas have half of distributed-lock.command-timeout", "redis.replica-ack-timeout");
		put(gone, "a node has a fifth of distributed-lock.command-timeout", "redlock.node-timeout");
		put(gone, "clocks may differ by 1 % of a lease", "redlock.clock-drift");
		put(gone, "use distributed-lock.redlock.max-ttl", "redlock.longest-ttl");
		put(gone, "a LockStore bean of RedlockLockStore's builder can say that servers are durable", "redlock.durable");
		put(gone, "write each node as a URL such as redis://user:password@host:6379/0, or rediss:// with TLS",
				"redlock.nodes.url", "redlock.nodes.host", "redlock.nodes.port", "redlock.nodes.username",
				"redlock.nodes.password", "redlock.nodes.database", "redlock.nodes.ssl.enabled");
		put(gone, "use distributed-lock.redlock.ssl.bundle, for all nodes", "redlock.nodes.ssl.bundle");
		put(gone, "keys begin with distributed-lock.key-prefix in every store", "zookeeper.root", "etcd.root");
		put(gone, "nodes belong to the credentials in distributed-lock.zookeeper.auth, if that is set",
				"zookeeper.acl");
		put(gone, "work under a lock has spring.lifecycle.timeout-per-shutdown-phase to end, and at most 10s",
				"shutdown.timeout");
		put(gone, "a lock acquired in a transaction is always released after its completion",
				"transaction.release-after-completion");
		put(gone, "a lease must last for another 50ms at a commit", "transaction.min-remaining");
		put(gone, "locks are observed where there is a tracer, unless management.observations.enable.distributed.lock"
				+ " is false", "observation.enabled");
		put(gone, "a LockObservationConvention bean can add the keys", "observation.include-key");
		return gone;
	}

	private static void put(Map<String, String> gone, String instead, String... names) {
		for (String name : names) {
			gone.put(uniform(name), instead);
		}
	}

	/**
	 * Explains a property to which nothing was bound.
	 * @return what to say; empty if it may be meant for somebody else
	 */
	static Optional<String> explain(ConfigurationProperty property) {
		String name = property.getName().subName(1).toString();
		String instead = GONE.get(uniform(name));
		List<String> known = all();
		if (instead == null && (!isOurs(name, known) || isEmptyGroup(property, name, known))) {
			return Optional.empty();
		}
		Origin origin = property.getOrigin();
		return Optional.of("There is no property '%s%s'%s, so it has no effect%s".formatted(
				LockConfigurationException.PREFIX, name, (origin != null) ? " (from " + origin + ")" : "",
				(instead != null) ? ": " + instead : ". " + suggestion(name, known)));
	}

	private static String suggestion(String name, List<String> known) {
		List<String> members = known.stream()
			.filter((candidate) -> uniform(candidate).startsWith(uniform(name) + "."))
			.toList();
		String nearest = (members.isEmpty() ? known : members).stream()
			.min(Comparator.comparingInt((candidate) -> distance(name, candidate)))
			.orElseThrow();
		Matcher index = INDEX.matcher(name);
		String element = (name.endsWith("]") && index.find()) ? index.group() : "";
		return "Did you mean '%s%s%s'?".formatted(LockConfigurationException.PREFIX, nearest, element);
	}

	/** A group that is nearly one of ours is a misspelt one. */
	private static boolean isOurs(String name, List<String> known) {
		int dot = name.indexOf('.');
		String group = (dot >= 0) ? uniform(name.substring(0, dot)) : "";
		return dot < 0 || known.stream().anyMatch((candidate) -> {
			String first = uniform(candidate.split("\\.")[0]);
			return first.equals(group) || (candidate.indexOf('.') > 0
					&& Suggestions.edits(group, first) <= Math.max(2, group.length() / 2));
		});
	}

	/** YAML has an empty text for a group whose properties are commented out. */
	private static boolean isEmptyGroup(ConfigurationProperty property, String name, List<String> known) {
		return "".equals(property.getValue())
				&& known.stream().anyMatch((candidate) -> uniform(candidate).startsWith(uniform(name) + "."));
	}

	/**
	 * Returns how different two names are: the number of characters to change, or, for
	 * names without their group, one more than that of similar last elements.
	 */
	private static int distance(String name, String known) {
		String left = uniform(name);
		String right = uniform(known);
		String last = left.substring(left.lastIndexOf('.') + 1);
		int edits = Suggestions.edits(last, right.substring(right.lastIndexOf('.') + 1));
		return Math.min(Suggestions.edits(left, right), (edits <= last.length() / 3) ? 1 + edits : Integer.MAX_VALUE);
	}

	private static String uniform(String name) {
		return INDEX.matcher(name.replace("-", "").toLowerCase(Locale.ROOT)).replaceAll("");
	}

	/**
	 * Returns the names of all properties, without {@code distributed-lock.}.
	 */
	static List<String> all() {
		List<String> names = new ArrayList<>();
		collect(DistributedLockProperties.class, "", names);
		return names;
	}

	private static void collect(Class<?> type, String prefix, List<String> names) {
		for (PropertyDescriptor property : BeanUtils.getPropertyDescriptors(type)) {
			String name = prefix + DataObjectPropertyName.toDashedForm(property.getName());
			@Nullable Class<?> propertyType = property.getPropertyType();
			if (property.getWriteMethod() != null) {
				names.add(name);
			}
			else if (propertyType != null && isGroup(propertyType)) {
				collect(propertyType, name + '.', names);
			}
		}
	}

	static boolean isGroup(Class<?> type) {
		return type.getNestHost() == DistributedLockProperties.class && !type.isEnum();
	}

}
