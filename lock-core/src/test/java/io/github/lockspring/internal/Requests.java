package io.github.lockspring.internal;

import java.util.List;

import io.github.lockspring.LockRequest;

/**
 * Requests for whole keys.
 */
public final class Requests {

	private Requests() {
	}

	public static LockRequest ofKeys(String... keys) {
		return new LabelledRequest(LockRequest.of("?"), List.of(keys), null);
	}

	public static LockRequest labelled(LockRequest request, String label) {
		return new LabelledRequest(request, request.keys(), label);
	}

}
