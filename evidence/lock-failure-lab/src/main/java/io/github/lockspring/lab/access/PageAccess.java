package io.github.lockspring.lab.access;

import java.util.Set;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Protects the lab and the application around it: bodies are small, requests that change
 * something carry the page's token, and those from this machine use a name of this
 * machine. The lab and the experiments, which start and kill processes, answer this
 * machine only.
 */
@Component
class PageAccess implements WebMvcConfigurer, HandlerInterceptor {

	static final int MAX_BODY = 16 * 1024;

	private static final String HEADER = "X-Page-Token";

	private static final Set<String> READS = Set.of("GET", "HEAD", "OPTIONS");

	private static final Set<String> LOCAL_NAMES = Set.of("localhost", "127.0.0.1", "[::1]", "::1");

	private final PageToken token;

	private final boolean remote;

	PageAccess(PageToken token, @Value("${lab.remote-access:false}") boolean remote) {
		this.token = token;
		this.remote = remote;
	}

	@Override
	public void addInterceptors(InterceptorRegistry registry) {
		registry.addInterceptor(this).addPathPatterns("/api/**", "/lab/api/**");
		if (!this.remote) {
			registry.addInterceptor(new LocalOnly()).addPathPatterns("/api/experiments/**", "/lab/api/**");
		}
	}

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
		checkName(request);
		checkBody(request);
		if (!READS.contains(request.getMethod()) && !this.token.value().equals(request.getHeader(HEADER))) {
			throw refused(HttpStatus.FORBIDDEN, "A request that changes something needs the header " + HEADER
					+ " with the text that GET /api/token answers. The pages send it; reload one that is older than this instance");
		}
		return true;
	}

	/** A name of another machine for this one would be DNS rebinding. */
	private void checkName(HttpServletRequest request) {
		if (!this.remote && LocalOnly.isLocal(request) && !LOCAL_NAMES.contains(request.getServerName())) {
			throw refused(HttpStatus.FORBIDDEN,
					"This machine is localhost here. Set lab.remote-access=true to accept other names and machines");
		}
	}

	/** A body of unknown length could be of any length. */
	private static void checkBody(HttpServletRequest request) {
		if (request.getContentLengthLong() > MAX_BODY) {
			throw refused(HttpStatus.CONTENT_TOO_LARGE,
					"A body has at most " + MAX_BODY + " bytes, not " + request.getContentLengthLong());
		}
		if (request.getHeader(HttpHeaders.TRANSFER_ENCODING) != null) {
			throw refused(HttpStatus.LENGTH_REQUIRED, "Send the body with its Content-Length, not in chunks");
		}
	}

	private static ResponseStatusException refused(HttpStatus status, String words) {
		return new ResponseStatusException(status, words);
	}

}
