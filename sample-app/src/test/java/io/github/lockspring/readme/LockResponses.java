package io.github.lockspring.readme;

import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.StaleFencingTokenException;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * The README's answers for a lock that is busy or unavailable. The package is none that
 * the sample scans, which has answers of its own.
 */
@RestControllerAdvice
class LockResponses {

	@ExceptionHandler
	ErrorResponse busy(LockNotAcquiredException ex) {
		return ErrorResponse.builder(ex, HttpStatus.CONFLICT, "Somebody else is changing this. Try again in a moment.")
			.header(HttpHeaders.RETRY_AFTER, "1")
			.build();
	}

	@ExceptionHandler
	ErrorResponse unavailable(LockUnavailableException ex) {
		var answer = ErrorResponse.builder(ex, HttpStatus.SERVICE_UNAVAILABLE, "This cannot be changed now.");
		return ex.isPermanent() ? answer.build() : answer.header(HttpHeaders.RETRY_AFTER, "10").build();
	}

	@ExceptionHandler
	ErrorResponse stale(StaleFencingTokenException ex) {
		return ErrorResponse.create(ex, HttpStatus.CONFLICT, "Somebody else has changed this. Nothing was saved.");
	}

	@ExceptionHandler
	ErrorResponse lost(LockLostException ex) {
		return ErrorResponse.create(ex, HttpStatus.INTERNAL_SERVER_ERROR, "Check the result before you try again.");
	}

}
