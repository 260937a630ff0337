package io.github.lockspring.readme;

import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockUnavailableException;
import org.junit.jupiter.api.Test;

import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

class LockResponsesTests {

	private final MockMvcTester mvc = MockMvcTester
		.create(MockMvcBuilders.standaloneSetup(new Orders()).setControllerAdvice(new LockResponses()).build());

	@Test
	void busyLockIsAConflict() {
		assertThat(this.mvc.get().uri("/busy")).hasStatus(HttpStatus.CONFLICT).hasHeader("Retry-After", "1");
	}

	@Test
	void unavailableLockIsUnavailable() {
		assertThat(this.mvc.get().uri("/unavailable")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
			.hasHeader("Retry-After", "10");
	}

	@RestController
	static class Orders {

		@GetMapping("/busy")
		void busy() {
			throw new LockNotAcquiredException("order:42", "Lock 'order:42' was not acquired");
		}

		@GetMapping("/unavailable")
		void unavailable() {
			throw new LockUnavailableException("Lock 'order:42' could not be requested", null);
		}

	}

}
