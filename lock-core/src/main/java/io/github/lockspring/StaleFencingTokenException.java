package io.github.lockspring;

/**
 * Thrown if a resource has seen a later fencing token. The caller has lost the lock,
 * perhaps without noticing, and must not write.
 *
 * @since 0.1
 */
public class StaleFencingTokenException extends LockLostException {

	private static final long serialVersionUID = 1L;

	private final String resource;

	private final long token;

	private final long latest;

	/**
	 * Creates an exception.
	 * @param resource the protected resource
	 * @param token the rejected token
	 * @param latest the highest token that the resource has seen
	 */
	public StaleFencingTokenException(String resource, long token, long latest) {
		super(resource, "'" + resource + "' has seen the fencing token " + latest + ", which is later than " + token
				+ ": the lock was lost, and another holder has had it since. Nothing may be written");
		this.resource = resource;
		this.token = token;
		this.latest = latest;
	}

	/**
	 * Returns the protected resource.
	 * @return the resource
	 */
	public String getResource() {
		return this.resource;
	}

	/**
	 * Returns the rejected token.
	 * @return the token
	 */
	public long getToken() {
		return this.token;
	}

	/**
	 * Returns the highest token that the resource has seen.
	 * @return the token
	 */
	public long getLatest() {
		return this.latest;
	}

}
