package io.github.lockspring.sample;

import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.StaleFencingTokenException;

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
 * the database has seen a later holder and has written nothing.
 */
@RestControllerAdvice
class ErrorResponses {

	private final EventLog log;

	ErrorResponses(EventLog log) {
		this.log = log;
	}

	@ExceptionHandler
	ProblemDetail busy(LockNotAcquiredException ex) {
		return problem(HttpStatus.CONFLICT, "busy", "Another request holds the lock", ex);
	}

	@ExceptionHandler
	ProblemDetail unavailable(LockUnavailableException ex) {
		return problem(HttpStatus.SERVICE_UNAVAILABLE, "unavailable", "The lock cannot be requested", ex);
	}

	@ExceptionHandler
	ProblemDetail lost(LockLostException ex) {
		return problem(HttpStatus.INTERNAL_SERVER_ERROR, "lost", "The lock was lost while the work ran", ex);
	}

	@ExceptionHandler
	ProblemDetail refused(StaleFencingTokenException ex) {
		this.log.refused(ex);
		return problem(HttpStatus.CONFLICT, "refused", "The lock was lost, and a later holder has written since", ex);
	}

	@ExceptionHandler({ DataAccessException.class, TransactionException.class })
	ProblemDetail noData(Exception ex) {
		return problem(HttpStatus.SERVICE_UNAVAILABLE, "no data", "The shop's own data cannot be read", ex);
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

	private static ProblemDetail problem(HttpStatus status, String outcome, String title, Exception ex) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, ex.getMessage());
		problem.setTitle(title);
		problem.setProperty("outcome", outcome);
		return problem;
	}

}
