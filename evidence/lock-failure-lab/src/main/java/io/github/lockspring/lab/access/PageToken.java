package io.github.lockspring.lab.access;

import java.security.SecureRandom;
import java.util.HexFormat;

import org.springframework.stereotype.Component;

/**
 * The token that requests which change something must carry. A page of another origin
 * cannot read it.
 */
@Component
public class PageToken {

	private final String value;

	/** Makes up a token. */
	public PageToken() {
		byte[] bytes = new byte[16];
		new SecureRandom().nextBytes(bytes);
		this.value = HexFormat.of().formatHex(bytes);
	}

	/**
	 * Returns the token.
	 * @return the token
	 */
	public String value() {
		return this.value;
	}

}
