package io.github.lockspring.sample;

import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockUnavailableException;

import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Three kinds of trouble with a lock, three answers: busy is normal, try again;
 * unavailable means that the work did not run; lost means that it did, in part without
 * protection.
 */
@RestControllerAdvice
class ErrorAnswers {

	@ExceptionHandler
	ProblemDetail busy(LockNotAcquiredException ex) {
		return problem(HttpStatus.CONFLICT, "busy", "Somebody else is at it", ex);
	}

	@ExceptionHandler
	ProblemDetail unavailable(LockUnavailableException ex) {
		return problem(HttpStatus.SERVICE_UNAVAILABLE, "unavailable", "The lock cannot be asked for", ex);
	}

	@ExceptionHandler
	ProblemDetail lost(LockLostException ex) {
		return problem(HttpStatus.INTERNAL_SERVER_ERROR, "lost", "The lock was lost while the work ran", ex);
	}

	@ExceptionHandler
	ProblemDetail noData(DataAccessException ex) {
		return problem(HttpStatus.SERVICE_UNAVAILABLE, "no data", "The shop's own data cannot be read", ex);
	}

	private static ProblemDetail problem(HttpStatus status, String outcome, String title, Exception ex) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, ex.getMessage());
		problem.setTitle(title);
		problem.setProperty("outcome", outcome);
		return problem;
	}

}
