package io.github.lockspring.sample;

import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.StaleFencingTokenException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Maps the four failures of a lock to HTTP responses. Busy is normal: try again.
 * Unavailable means that the work did not run. Lost means that the work ran, in part
 * without protection, but no transaction has committed since the loss. Refused means that
 * the database has seen a later holder and has written nothing. Exception messages name
 * keys and methods, so they go to the log, and the caller gets a text of its own.
 */
@RestControllerAdvice
class ErrorResponses {

	private static final Logger logger = LoggerFactory.getLogger(ErrorResponses.class);

	private final EventLog log;

	ErrorResponses(EventLog log) {
		this.log = log;
	}

	@ExceptionHandler
	ProblemDetail busy(LockNotAcquiredException ex) {
		return problem(HttpStatus.CONFLICT, "busy", "Another request is changing this. Try again in a moment.", ex);
	}

	@ExceptionHandler
	ProblemDetail unavailable(LockUnavailableException ex) {
		return problem(HttpStatus.SERVICE_UNAVAILABLE, "unavailable",
				"Locks are not available now. Nothing was changed. Try again in a few seconds.", ex);
	}

	@ExceptionHandler
	ProblemDetail lost(LockLostException ex) {
		return problem(HttpStatus.INTERNAL_SERVER_ERROR, "lost",
				"The lock was lost while the work ran. Check the result before you try again.", ex);
	}

	@ExceptionHandler
	ProblemDetail refused(StaleFencingTokenException ex) {
		this.log.refused(ex);
		return problem(HttpStatus.CONFLICT, "refused",
				"Another request has changed this in the meantime. This request has written nothing.", ex);
	}

	@ExceptionHandler({ DataAccessException.class, TransactionException.class })
	ProblemDetail noData(Exception ex) {
		return problem(HttpStatus.SERVICE_UNAVAILABLE, "no data",
				"The shop cannot read its data. Try again in a few seconds.", ex);
	}

	private static ProblemDetail problem(HttpStatus status, String outcome, String words, Exception ex) {
		logger.info("Answered {} ({}): {}", status.value(), outcome, ex.getMessage());
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, words);
		problem.setProperty("outcome", outcome);
		return problem;
	}

}
