package io.github.lockspring.sample;

import io.github.lockspring.lab.access.PageToken;

import org.springframework.boot.webmvc.test.autoconfigure.MockMvcBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpMethod;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;

/**
 * Requests of tests have the page's token, as those of the page.
 */
class PageRequests {

	@Bean
	MockMvcBuilderCustomizer requestsWithToken(PageToken token) {
		return (builder) -> builder
			.defaultRequest(MockMvcRequestBuilders.request(HttpMethod.GET, "/").header("X-Page-Token", token.value()));
	}

}
