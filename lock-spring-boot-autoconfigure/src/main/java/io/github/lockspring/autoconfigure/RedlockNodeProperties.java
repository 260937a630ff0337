package io.github.lockspring.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * One of the servers of Redlock: a URL, or the other properties.
 *
 * @param url Where it is and who we are there, such as redis://user:password@host:6379.
 * With rediss, by TLS.
 * @param host Where it is.
 * @param port Its port.
 * @param username Who we are there.
 * @param password The user's password.
 * @param database Which of its databases the locks are in.
 * @param ssl How the connection is encrypted.
 */
public record RedlockNodeProperties(@Nullable String url, @Nullable String host, @DefaultValue("6379") int port,
		@Nullable String username, @Nullable String password, @DefaultValue("0") int database, @DefaultValue Ssl ssl) {

	/**
	 * Makes a node of its URL, so that nodes can be written as a list of URLs.
	 * @param url the URL
	 * @return the node
	 */
	public static RedlockNodeProperties valueOf(String url) {
		return new RedlockNodeProperties(url, null, 6379, null, null, 0, new Ssl(null, null));
	}

	/**
	 * Without the password.
	 */
	@Override
	public String toString() {
		return (this.url != null) ? LockPropertyFailureAnalyzer.withoutPassword(this.url) : this.host + ":" + this.port;
	}

	/**
	 * How the connection to a server is encrypted.
	 *
	 * @param enabled Whether it is. By default if there is a bundle, or the URL says so.
	 * @param bundle The SSL bundle to use.
	 */
	public record Ssl(@Nullable Boolean enabled, @Nullable String bundle) {
	}

}
