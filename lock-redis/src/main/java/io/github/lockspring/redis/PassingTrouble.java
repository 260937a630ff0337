package io.github.lockspring.redis;

import java.util.List;

import org.springframework.core.NestedExceptionUtils;

/**
 * Knows the refusals of a cluster that end by themselves: what is asked for is right, but
 * the server is not ready for it, or it is another one's by now.
 */
final class PassingTrouble {

	/*
	 * TRYAGAIN: while a slot migrates, scripts are refused of which one key is missing.
	 * MOVED and ASK reach a caller only when the driver has followed several of them in
	 * vain, which the last words say where the driver is Jedis. CLUSTERDOWN: a master has
	 * failed and no replica has taken its place yet.
	 */
	private static final List<String> BEGINNINGS = List.of("TRYAGAIN", "MOVED ", "ASK ", "CLUSTERDOWN",
			"No more cluster attempts");

	private PassingTrouble() {
	}

	static boolean is(RuntimeException failure) {
		String words = NestedExceptionUtils.getMostSpecificCause(failure).getMessage();
		return words != null && BEGINNINGS.stream().anyMatch(words::startsWith);
	}

	/**
	 * Whether it speaks against what is known of the nodes: while a slot migrates,
	 * nothing else is wrong.
	 */
	static boolean isElsewhere(RuntimeException failure) {
		return is(failure) && !isTryAgain(failure);
	}

	/**
	 * Whether the server has become a replica.
	 */
	static boolean isReadOnly(RuntimeException failure) {
		String words = NestedExceptionUtils.getMostSpecificCause(failure).getMessage();
		return words != null && words.contains("READONLY ");
	}

	static boolean isTryAgain(Throwable failure) {
		String words = NestedExceptionUtils.getMostSpecificCause(failure).getMessage();
		return words != null && words.startsWith("TRYAGAIN");
	}

}
