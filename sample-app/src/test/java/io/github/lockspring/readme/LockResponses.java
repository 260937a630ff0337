package io.github.lockspring.readme;

import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockUnavailableException;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * The README's answers for a lock that is busy or unavailable. The package is none that
 * the sample scans, which has answers of its own.
 */
@RestControllerAdvice
class LockResponses {

	@ExceptionHandler
	ResponseEntity<ProblemDetail> busy(LockNotAcquiredException ex) {
		return answer(HttpStatus.CONFLICT, "1", "The order is being changed by somebody else. Try again in a moment.");
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> unavailable(LockUnavailableException ex) {
		return answer(HttpStatus.SERVICE_UNAVAILABLE, "10", "Orders cannot be changed now. Try again in some seconds.");
	}

	private static ResponseEntity<ProblemDetail> answer(HttpStatus status, String retryAfter, String text) {
		return ResponseEntity.status(status)
			.header(HttpHeaders.RETRY_AFTER, retryAfter)
			.body(ProblemDetail.forStatusAndDetail(status, text));
	}

}
