package io.github.lockspring.sample;

import java.util.stream.Stream;

import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.StaleFencingTokenException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers get texts that are made for them, and no message of an exception.
 */
class ErrorResponsesTests {

	private static final String SECRET = "redis://10.0.0.7";

	@ParameterizedTest
	@MethodSource("failures")
	void answerHasATextOfItsOwn(RuntimeException failure, int status, String outcome, String words) {
		MockMvcTester mvc = MockMvcTester.create(MockMvcBuilders.standaloneSetup(new Failing(failure))
			.setControllerAdvice(new ErrorResponses(new EventLog()))
			.build());
		assertThat(mvc.get().uri("/")).hasStatus(status)
			.bodyText()
			.contains("\"outcome\":\"" + outcome + "\"", words)
			.doesNotContain(SECRET, "order:42");
	}

	static Stream<Arguments> failures() {
		return Stream.of(
				Arguments.of(new LockNotAcquiredException("order:42", SECRET), 409, "busy",
						"Another request is changing this"),
				Arguments.of(new LockUnavailableException(SECRET, null), 503, "unavailable", "Nothing was changed"),
				Arguments.of(new LockLostException("order:42", SECRET), 500, "lost", "Check the result"),
				Arguments.of(new StaleFencingTokenException("order:42", 1, 2), 409, "refused", "has written nothing"),
				Arguments.of(new DataAccessResourceFailureException(SECRET), 503, "no data", "cannot read its data"));
	}

	@RestController
	record Failing(RuntimeException failure) {

		@GetMapping("/")
		void fail() {
			throw this.failure;
		}

	}

}
