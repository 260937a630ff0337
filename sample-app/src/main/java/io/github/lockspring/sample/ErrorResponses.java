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
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ResponseStatusException;

/**
 * Maps the four failures of a lock to four HTTP responses. Busy is normal: try again.
 * Unavailable means that the work did not run. Lost means that the work ran, in part
 * without protection, but no transaction has committed since the loss. Refused means that
 * the database has seen a later holder and has written nothing. The messages of
 * exceptions name keys and methods: they are for the log, and the caller gets a text that
 * is made for him.
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
		return problem(HttpStatus.CONFLICT, "busy", "This is being changed by somebody else. Try again in a moment.",
				ex);
	}

	@ExceptionHandler
	ProblemDetail unavailable(LockUnavailableException ex) {
		return problem(HttpStatus.SERVICE_UNAVAILABLE, "unavailable",
				"Nothing can be locked now, and nothing was changed. Try again in some seconds.", ex);
	}

	@ExceptionHandler
	ProblemDetail lost(LockLostException ex) {
		return problem(HttpStatus.INTERNAL_SERVER_ERROR, "lost",
				"The lock was lost while the work ran. Look at the result before you try again.", ex);
	}

	@ExceptionHandler
	ProblemDetail refused(StaleFencingTokenException ex) {
		this.log.refused(ex);
		return problem(HttpStatus.CONFLICT, "refused",
				"Somebody else has changed this meanwhile. Nothing of this request was written.", ex);
	}

	@ExceptionHandler({ DataAccessException.class, TransactionException.class })
	ProblemDetail noData(Exception ex) {
		return problem(HttpStatus.SERVICE_UNAVAILABLE, "no data",
				"The shop cannot read its data. Try again in some seconds.", ex);
	}

	@ExceptionHandler
	ProblemDetail badInput(ResponseStatusException ex) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(ex.getStatusCode(), String.valueOf(ex.getReason()));
		problem.setProperty("outcome", "bad input");
		return problem;
	}

	@ExceptionHandler
	ProblemDetail badInput(HttpMessageNotReadableException ex) {
		return badInput(new ResponseStatusException(HttpStatus.BAD_REQUEST,
				"The body is no JSON list of articles, such as [\"tea\", \"cup\"]"));
	}

	private static ProblemDetail problem(HttpStatus status, String outcome, String words, Exception ex) {
		logger.info("Answered {} ({}): {}", status.value(), outcome, ex.getMessage());
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, words);
		problem.setProperty("outcome", outcome);
		return problem;
	}

}
