package io.github.lockspring.autoconfigure;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Redlock;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * Address and login of a server of Redlock.
 *
 * @param host host name or IP address, IPv6 without brackets
 * @param port the port
 * @param database index of the database
 * @param username login username, or null for the default user
 * @param password login password, or null for none
 * @param ssl whether the connection is encrypted
 */
record RedlockAddress(String host, int port, int database, @Nullable String username, @Nullable String password,
		boolean ssl) {

	private static final String NODES = "redlock.nodes";

	/**
	 * An address without a login. What follows a colon and is no port may be a password.
	 */
	private static final Pattern PLAIN = Pattern.compile("(\\w+://)?[\\w.-]*(:\\d*)?(/\\w*)?");

	private static final int DEFAULT_PORT = 6379;

	private static final String EXAMPLE = "Write it as redis://user:password@host:6379, or rediss:// with TLS;"
			+ " in names and passwords, characters such as @, / and , are written %40, %2F and %2C.";

	/**
	 * Reads the URLs of the nodes: an odd number of servers, at least three, each listed
	 * once.
	 * @throws LockConfigurationException if they are something else
	 */
	static List<RedlockAddress> parse(Redlock redlock) {
		List<RedlockAddress> addresses = new ArrayList<>();
		for (String url : redlock.getNodes()) {
			addresses.add(parse(NODES + "[" + addresses.size() + "]", url.trim()));
		}
		String names = addresses.stream().map(RedlockAddress::name).collect(Collectors.joining(", "));
		if (addresses.size() < 3) {
			throw invalid(names,
					(addresses.isEmpty() ? "there is no node" : "there are too few nodes")
							+ " for distributed-lock.store=redlock, whose locks survive the loss of a minority",
					"Name three or five servers that are independent of each other; for one server, or one master"
							+ " with replicas, use distributed-lock.store=redis.");
		}
		if (addresses.size() % 2 == 0) {
			throw invalid(names, "the number of nodes, " + addresses.size()
					+ ", is even, which tolerates no more failures than one node less, with one more node that can fail",
					"Remove a node, or add one.");
		}
		Set<String> seen = new HashSet<>();
		for (RedlockAddress address : addresses) {
			if (!seen.add(address.name().toLowerCase(Locale.ROOT))) {
				throw invalid(names, address + " is listed twice, and a server must not vote twice",
						"Name servers that are independent of each other.");
			}
		}
		if (redlock.getSsl().getBundle() != null && addresses.stream().noneMatch(RedlockAddress::ssl)) {
			throw PropertyChecks.invalid("redlock.ssl.bundle", redlock.getSsl().getBundle(),
					"The nodes begin with redis://, so nothing would be encrypted",
					"Begin them with rediss://, or leave the property out");
		}
		return addresses;
	}

	private static RedlockAddress parse(String property, String url) {
		URI uri = uri(property, url);
		boolean ssl = "rediss".equalsIgnoreCase(uri.getScheme());
		if (!ssl && !"redis".equalsIgnoreCase(uri.getScheme())) {
			throw wrong(property, url, "it starts neither with redis:// nor with rediss://");
		}
		if (uri.getHost() == null) {
			throw wrong(property, url, "it names no host");
		}
		String path = StringUtils.trimLeadingCharacter((uri.getPath() != null) ? uri.getPath() : "", '/');
		if (!path.matches("\\d{0,5}")) {
			throw wrong(property, url, "the path is not the index of a database");
		}
		String user = uri.getRawUserInfo();
		int colon = (user != null) ? user.indexOf(':') : -1;
		return new RedlockAddress(uri.getHost().replaceAll("[\\[\\]]", ""),
				(uri.getPort() > 0) ? uri.getPort() : DEFAULT_PORT, path.isEmpty() ? 0 : Integer.parseInt(path),
				(colon > 0) ? decode(user.substring(0, colon)) : null,
				(user != null) ? decode(user.substring(colon + 1)) : null, ssl);
	}

	private static URI uri(String property, String url) {
		try {
			return new URI(url);
		}
		catch (URISyntaxException ex) {
			// the exception itself has the password in its message
			throw wrong(property, url, "it is not a URL");
		}
	}

	private static LockConfigurationException wrong(String property, String url, String problem) {
		return PLAIN.matcher(url).matches() ? LockConfigurationException.ofValue(property, url, problem, EXAMPLE)
				: LockConfigurationException.ofSecret(property, problem, EXAMPLE);
	}

	/** The names are without logins, unlike the value of the property. */
	private static LockConfigurationException invalid(String names, String problem, String remedy) {
		return LockConfigurationException.ofValue(NODES, names, problem, remedy);
	}

	private static String decode(String text) {
		return StringUtils.uriDecode(text, StandardCharsets.UTF_8);
	}

	/**
	 * Returns host and port, without the login.
	 */
	String name() {
		return ((this.host.indexOf(':') >= 0) ? "[" + this.host + "]" : this.host) + ":" + this.port;
	}

	@Override
	public String toString() {
		return name();
	}

}
