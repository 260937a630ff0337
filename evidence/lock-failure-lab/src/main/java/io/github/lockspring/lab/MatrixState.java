package io.github.lockspring.lab;

import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.lockspring.lab.history.Code;
import org.jspecify.annotations.Nullable;

/**
 * The outcomes of all cells as the page sees them.
 *
 * @param running whether the matrix is being run
 * @param done how many of its runs are over
 * @param total how many runs it has
 * @param current the run that is going on, or null
 * @param cells the outcome of each cell that was run
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record MatrixState(boolean running, int done, int total, @Nullable String current, List<Outcome> cells) {

	/**
	 * The outcome of a cell.
	 *
	 * @param recipe the recipe
	 * @param fault the fault
	 * @param run the latest run
	 * @param code its outcome
	 * @param stuckSeconds for how long the lock was stuck or unavailable, or null
	 * @param asExpected whether the latest outcome is as expected
	 * @param runs the number of runs since the sample started
	 * @param asExpectedRuns how many of them ended as expected
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Outcome(String recipe, String fault, String run, Code code, @Nullable Double stuckSeconds,
			boolean asExpected, int runs, int asExpectedRuns) {
	}

}
