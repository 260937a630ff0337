package io.github.lockspring.lab;

import io.github.lockspring.lab.history.Code;
import org.jspecify.annotations.Nullable;

/**
 * A recipe under a fault, and what theory expects.
 *
 * @param recipe the recipe
 * @param fault the fault
 * @param expected the expected outcome
 * @param alternative an outcome that theory allows as well, depending on the moment, or
 * null
 * @param theory why
 * @param failure the row in {@code docs/understand/failures.md}, or null
 */
record Cell(String recipe, String fault, Code expected, @Nullable Code alternative, String theory,
		@Nullable String failure) {

	boolean allows(Code code) {
		return code == this.expected || code == this.alternative;
	}

}
