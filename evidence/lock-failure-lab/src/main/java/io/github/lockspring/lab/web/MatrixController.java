package io.github.lockspring.lab.web;

import java.util.List;

import io.github.lockspring.lab.Matrix;
import io.github.lockspring.lab.MatrixState;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Serves the matrix of recipes and faults.
 */
@RestController
@RequestMapping("/lab/api/matrix")
@ConditionalOnBooleanProperty(name = "lab.enabled", matchIfMissing = true)
class MatrixController {

	private final Matrix matrix;

	private final LabStreams streams;

	MatrixController(Matrix matrix, LabStreams streams) {
		this.matrix = matrix;
		this.streams = streams;
	}

	@PostMapping
	ResponseEntity<?> start(@RequestBody Order order) {
		int runs = (order.runs() != null) ? order.runs() : 1;
		if (runs < 1 || runs > Matrix.MAX_RUNS) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
					"The matrix runs each cell 1 to " + Matrix.MAX_RUNS + " times, not " + runs);
		}
		if (!this.matrix.start(runs, order.recipes(), order.faults())) {
			return LabController.busy();
		}
		return ResponseEntity.accepted().body(this.matrix.state());
	}

	@GetMapping
	MatrixState state() {
		return this.matrix.state();
	}

	@GetMapping("/events")
	SseEmitter events() {
		return this.streams.open("lab-matrix", (emitter) -> {
			MatrixState sent = null;
			int look = 1;
			do {
				MatrixState state = this.matrix.state();
				if (!state.equals(sent)) {
					emitter.send(LabStreams.event("matrix", state));
					sent = state;
				}
			}
			while (this.streams.breathe(emitter, look++));
		});
	}

	@DeleteMapping
	MatrixState cancel() {
		this.matrix.cancel();
		return this.matrix.state();
	}

	/**
	 * An order of several runs.
	 *
	 * @param runs how often, 1 if it is null
	 * @param recipes the recipes, all if it is null
	 * @param faults the faults, all if it is null
	 */
	record Order(@Nullable Integer runs, @Nullable List<String> recipes, @Nullable List<String> faults) {
	}

}
