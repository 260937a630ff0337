package io.github.lockspring.lab.web;

import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import io.github.lockspring.lab.access.PageToken;
import io.github.lockspring.lab.CatalogueView;
import io.github.lockspring.lab.Lab;
import io.github.lockspring.lab.RunState;
import io.github.lockspring.lab.ServerKeys;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Serves the catalogue and the runs of the failure lab.
 */
@RestController
@RequestMapping("/lab/api")
@ConditionalOnBooleanProperty(name = "lab.enabled", matchIfMissing = true)
class LabController {

	private static final int MAX_LISTED = 200;

	private final Lab lab;

	private final PageToken token;

	private final LabStreams streams;

	LabController(Lab lab, PageToken token, LabStreams streams) {
		this.lab = lab;
		this.token = token;
		this.streams = streams;
	}

	@GetMapping("/catalogue")
	CatalogueView catalogue() {
		return CatalogueView.of(this.token.value());
	}

	@PostMapping("/runs")
	ResponseEntity<?> start(@RequestBody Order order) {
		int shops = (order.shops() != null) ? order.shops() : 2;
		if (shops < 1 || shops > Lab.MAX_SHOPS) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
					"A run has 1 to " + Lab.MAX_SHOPS + " shops, not " + shops);
		}
		Optional<RunState> run;
		try {
			run = this.lab.start(String.valueOf(order.recipe()), String.valueOf(order.fault()), shops);
		}
		catch (IllegalArgumentException ex) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST, ex.getMessage(), ex);
		}
		if (run.isEmpty()) {
			return busy();
		}
		return ResponseEntity.accepted().location(URI.create("/lab/api/runs/" + run.get().id())).body(run.get());
	}

	static ResponseEntity<ProblemDetail> busy() {
		return ResponseEntity.status(HttpStatus.TOO_MANY_REQUESTS)
			.header("Retry-After", "5")
			.body(ProblemDetail.forStatusAndDetail(HttpStatus.TOO_MANY_REQUESTS,
					"Another run is going on. Wait for its end, or cancel it"));
	}

	@GetMapping("/runs")
	List<RunState> runs(@RequestParam(defaultValue = "50") int limit) {
		return this.lab.runs(Math.max(0, Math.min(limit, MAX_LISTED)));
	}

	@GetMapping("/runs/{id}")
	RunState run(@PathVariable String id) {
		return this.lab.run(id, true).orElseThrow(unknown(id));
	}

	@GetMapping("/runs/{id}/events")
	SseEmitter events(@PathVariable String id,
			@RequestHeader(name = "Last-Event-ID", required = false) @Nullable String last) {
		this.lab.run(id, false).orElseThrow(unknown(id));
		return this.streams.run(id, next(last));
	}

	private static int next(@Nullable String last) {
		return (last != null && last.matches("\\d{1,8}")) ? Integer.parseInt(last) + 1 : 0;
	}

	@GetMapping("/runs/{id}/keys")
	ServerKeys keys(@PathVariable String id) {
		return this.lab.keys(id).orElseThrow(unknown(id));
	}

	@DeleteMapping("/runs/{id}")
	RunState cancel(@PathVariable String id) {
		this.lab.cancel(id);
		return this.lab.run(id, false).orElseThrow(unknown(id));
	}

	private static Supplier<ResponseStatusException> unknown(String id) {
		return () -> new ResponseStatusException(HttpStatus.NOT_FOUND,
				"There is no run '" + id + "'; the lab keeps the latest ones only, until the sample ends");
	}

	/**
	 * An order of a run.
	 *
	 * @param recipe the recipe
	 * @param fault the fault
	 * @param shops the number of shops, 2 if it is null
	 */
	record Order(@Nullable String recipe, @Nullable String fault, @Nullable Integer shops) {
	}

}
