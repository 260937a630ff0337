package io.github.lockspring.autoconfigure;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * Address and login of a server of Redlock.
 *
 * @param property name of the property that it was read from
 * @param host host name or IP address, IPv6 without brackets
 * @param port the port
 * @param database index of the database
 * @param username login username, or null for the default user
 * @param password login password, or null for none
 * @param ssl whether the connection is encrypted
 * @param bundle name of the SSL bundle, or null for the trust store of the JVM
 */
record RedlockAddress(String property, String host, int port, int database, @Nullable String username,
		@Nullable String password, boolean ssl, @Nullable String bundle) {

	private static final int DEFAULT_PORT = 6379;

	private static final String EXAMPLE = "Write it as redis://user:password@host:6379, or rediss:// with TLS;"
			+ " in names and passwords, characters such as @ and / are written %40 and %2F.";

	/**
	 * Reads the address of a node.
	 * @param index position of the node in the property
	 * @param node the node
	 * @throws LockPropertyException if the address is invalid
	 */
	static RedlockAddress of(int index, RedlockNodeProperties node) {
		String property = "redlock.nodes[" + index + "]";
		boolean secure = (node.ssl().enabled() != null) ? node.ssl().enabled() : node.ssl().bundle() != null;
		if (node.url() != null) {
			if (node.host() != null) {
				throw new LockPropertyException(property, node.toString(), "it has a url and a host",
						"Leave one of them out.");
			}
			return parse(property, node, node.url().trim(), secure);
		}
		if (!StringUtils.hasText(node.host())) {
			throw new LockPropertyException(property, "", "it has neither a url nor a host", EXAMPLE);
		}
		return new RedlockAddress(property, node.host().trim(), node.port(), node.database(), node.username(),
				node.password(), secure, node.ssl().bundle());
	}

	private static RedlockAddress parse(String property, RedlockNodeProperties node, String url, boolean secure) {
		URI uri = uri(property, node, url);
		boolean rediss = "rediss".equalsIgnoreCase(uri.getScheme());
		if (!rediss && !"redis".equalsIgnoreCase(uri.getScheme())) {
			throw invalid(property, node, "it starts neither with redis:// nor with rediss://");
		}
		if (uri.getHost() == null) {
			throw invalid(property, node, "it names no host");
		}
		String path = StringUtils.trimLeadingCharacter((uri.getPath() != null) ? uri.getPath() : "", '/');
		if (!path.matches("\\d{0,5}")) {
			throw invalid(property, node, "the path is not the index of a database");
		}
		String user = uri.getRawUserInfo();
		int colon = (user != null) ? user.indexOf(':') : -1;
		String username = (colon > 0) ? decode(user.substring(0, colon)) : node.username();
		String password = (user != null) ? decode(user.substring(colon + 1)) : node.password();
		return new RedlockAddress(property, uri.getHost().replaceAll("[\\[\\]]", ""),
				(uri.getPort() > 0) ? uri.getPort() : DEFAULT_PORT,
				path.isEmpty() ? node.database() : Integer.parseInt(path), username, password, rediss || secure,
				node.ssl().bundle());
	}

	private static URI uri(String property, RedlockNodeProperties node, String url) {
		try {
			return new URI(url);
		}
		catch (URISyntaxException ex) {
			// the exception itself has the password in its message
			throw invalid(property, node, "it is not a URL");
		}
	}

	private static LockPropertyException invalid(String property, RedlockNodeProperties node, String problem) {
		return new LockPropertyException(property, node.toString(), problem, EXAMPLE);
	}

	private static String decode(String text) {
		return StringUtils.uriDecode(text, StandardCharsets.UTF_8);
	}

	/**
	 * Returns host and port, without the login.
	 */
	public String name() {
		return ((this.host.indexOf(':') >= 0) ? "[" + this.host + "]" : this.host) + ":" + this.port;
	}

	@Override
	public String toString() {
		return name();
	}

}
