package io.github.lockspring.internal;

import java.util.Collection;

import io.github.lockspring.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * A request for whole keys with a label that is not part of them, as annotated methods
 * make it.
 *
 * @since 0.1
 */
public final class LabelledRequest extends LockRequest {

	/**
	 * Creates a request.
	 * @param options gives the options
	 * @param keys the whole keys, at least one; duplicates count once
	 * @param label the label in meters, events and messages, or null for none
	 * @throws IllegalArgumentException if there is no key, or one of them cannot be a key
	 */
	public LabelledRequest(LockRequest options, Collection<String> keys, @Nullable String label) {
		super(options, keys, label);
	}

}
