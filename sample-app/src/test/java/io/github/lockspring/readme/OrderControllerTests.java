package io.github.lockspring.readme;

import io.github.lockspring.test.AutoConfigureDistributedLocks;
import io.github.lockspring.test.LockTester;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The slice test of the README, and its answers.
 */
@WebMvcTest
@Import(OrderService.class)
@AutoConfigureDistributedLocks
class OrderControllerTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private LockTester locks;

	@Test
	void cancellationOfABusyOrderIsAConflict() {
		this.locks.makeBusy("order:42");
		assertThat(this.mvc.post().uri("/orders/42/cancel")).hasStatus(HttpStatus.CONFLICT);
	}

	@Test
	void answersHaveTextsOfTheirOwn() {
		this.locks.makeBusy("order:42");
		assertThat(this.mvc.post().uri("/orders/42/cancel")).hasHeader("Retry-After", "1")
			.bodyText()
			.contains("Somebody else is changing this")
			.doesNotContain("order:42");
	}

	@Test
	void cancellationWithoutLocksIsUnavailable() {
		this.locks.makeUnavailable("order:42");
		assertThat(this.mvc.post().uri("/orders/42/cancel")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
			.hasHeader("Retry-After", "10")
			.bodyText()
			.contains("cannot be changed now");
	}

}
