package io.github.lockspring.lab.history;

import java.util.List;

import io.github.lockspring.lab.history.Findings.Overlap;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a run beside what theory expects.
 *
 * @param code the outcome
 * @param stuckSeconds for how long the lock was stuck or unavailable, or null
 * @param expected what theory expects
 * @param asExpected whether the outcome is as expected
 * @param why some sentences on what happened
 * @param failure the row in {@code docs/understand/failures.md}, or null
 * @param rule the rule of Lockspring that answers the failure, or null
 * @param overlaps when two shops were inside
 */
public record Verdict(Code code, @Nullable Double stuckSeconds, Code expected, boolean asExpected, List<String> why,
		@Nullable String failure, @Nullable Link rule, List<Overlap> overlaps) {

	/**
	 * A reference to a document.
	 *
	 * @param text its text
	 * @param url where it stands
	 */
	public record Link(String text, String url) {
	}

}
