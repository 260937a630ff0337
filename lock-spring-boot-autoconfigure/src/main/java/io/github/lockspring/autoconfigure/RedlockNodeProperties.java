package io.github.lockspring.autoconfigure;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * One of the servers of Redlock: a URL, or the other properties.
 *
 * @param url URL of the server, such as redis://user:password@host:6379; rediss://
 * connects with TLS.
 * @param host Host name or IP address of the server.
 * @param port Port of the server.
 * @param username Login username of the server.
 * @param password Login password of the server.
 * @param database Index of the database that holds the locks.
 * @param ssl Encryption of the connection.
 */
record RedlockNodeProperties(@Nullable String url, @Nullable String host, @DefaultValue("6379") int port,
		@Nullable String username, @Nullable String password, @DefaultValue("0") int database, @DefaultValue Ssl ssl) {

	private static final Pattern BETWEEN_URLS = Pattern.compile(",\\s*(?=rediss?://)");

	private static final Pattern SCHEME = Pattern.compile("^rediss?://");

	/** What stands in the place of the port and is no number may begin a password. */
	private static final Pattern NO_PORT = Pattern.compile("(//[^:/]*):(?!\\d+(?:/|$)).*");

	/**
	 * Creates a node from its URL. Lets nodes be listed as URLs.
	 * @param url the URL
	 * @return the node
	 */
	public static RedlockNodeProperties valueOf(String url) {
		return new RedlockNodeProperties(url, null, 6379, null, null, 0, new Ssl(null, null));
	}

	/**
	 * Returns the address of the node, without its password.
	 */
	@Override
	public String toString() {
		return (this.url != null) ? withoutPassword(this.url) : this.host + ":" + this.port;
	}

	/**
	 * Masks what stands before the last at sign of each URL, and what may be a part of a
	 * password.
	 * @param value a URL, or several of them separated by commas
	 */
	static String withoutPassword(String value) {
		return BETWEEN_URLS.splitAsStream(value)
			.map(RedlockNodeProperties::urlWithoutPassword)
			.collect(Collectors.joining(", "));
	}

	private static String urlWithoutPassword(String url) {
		int at = url.lastIndexOf('@');
		if (at < 0) {
			return NO_PORT.matcher(url).replaceAll("$1:***");
		}
		Matcher scheme = SCHEME.matcher(url);
		return (scheme.find() ? scheme.group() : "") + "***" + url.substring(at);
	}

	/**
	 * Encryption of the connection to a server.
	 *
	 * @param enabled Whether to use TLS. Without it, TLS is used if a bundle is set or
	 * the URL begins with rediss://.
	 * @param bundle Name of the SSL bundle to use. Without it, the trust store of the JVM
	 * applies.
	 */
	public record Ssl(@Nullable Boolean enabled, @Nullable String bundle) {
	}

}
