package io.github.lockspring.lab.access;

import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Gives the token to the page, and to the pages of the other instances.
 */
@RestController
@CrossOrigin(originPatterns = { "http://localhost:*", "http://127.0.0.1:*" })
class TokenController {

	private final PageToken token;

	TokenController(PageToken token) {
		this.token = token;
	}

	/** No browser may take it for a script, which pages of other origins could embed. */
	@GetMapping("/api/token")
	ResponseEntity<String> token() {
		return ResponseEntity.ok()
			.contentType(MediaType.TEXT_PLAIN)
			.header("X-Content-Type-Options", "nosniff")
			.body(this.token.value());
	}

}
