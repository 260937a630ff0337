package io.github.lockspring.redis.internal;

import io.github.lockspring.store.InstanceInfo;
import org.jspecify.annotations.Nullable;

/**
 * The text by which an instance registers.
 */
public final class InstanceText {

	private InstanceText() {
	}

	/**
	 * Writes the text.
	 * @param info describes the instance
	 * @return the value of its key
	 */
	public static String of(InstanceInfo info) {
		return info.pid() + " " + info.host() + " " + info.application();
	}

	/**
	 * Reads the text.
	 * @param value the value of the instance's key, or null
	 * @return the description, or null if the value is none
	 */
	public static @Nullable InstanceInfo parse(@Nullable String value) {
		String[] words = (value != null) ? value.split(" ", 3) : new String[0];
		return (words.length == 3 && words[0].matches("\\d{1,18}"))
				? new InstanceInfo(words[2], words[1], Long.parseLong(words[0])) : null;
	}

}
