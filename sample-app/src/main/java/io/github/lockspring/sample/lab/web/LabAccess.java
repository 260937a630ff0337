package io.github.lockspring.sample.lab.web;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Set;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Protects the lab and the experiments, which start and kill processes: requests come
 * from this machine, under a name of this machine, and those that change something carry
 * the page's token.
 */
@Component
class LabAccess implements WebMvcConfigurer, HandlerInterceptor {

	private static final Set<String> LOCAL_NAMES = Set.of("localhost", "127.0.0.1", "[::1]", "::1");

	private final LabToken token;

	private final boolean remote;

	LabAccess(LabToken token, @Value("${lab.remote-access:false}") boolean remote) {
		this.token = token;
		this.remote = remote;
	}

	@Override
	public void addInterceptors(InterceptorRegistry registry) {
		registry.addInterceptor(this).addPathPatterns("/lab/api/**", "/api/experiments/**");
	}

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
		if (!this.remote && !isLocal(request)) {
			throw new ResponseStatusException(HttpStatus.FORBIDDEN,
					"The failure lab and the experiments start and kill processes, so they answer this machine only (http://localhost)."
							+ " Set lab.remote-access=true to open it to others");
		}
		boolean reads = Set.of("GET", "HEAD", "OPTIONS").contains(request.getMethod());
		if (!reads && !this.token.value().equals(request.getHeader("X-Lab-Token"))) {
			throw new ResponseStatusException(HttpStatus.FORBIDDEN,
					"The header X-Lab-Token must have the token of /lab/api/catalogue or /api/experiments. If the sample was restarted, reload the page");
		}
		return true;
	}

	/** A name of another machine for this one would be DNS rebinding. */
	private static boolean isLocal(HttpServletRequest request) {
		try {
			return InetAddress.getByName(request.getRemoteAddr()).isLoopbackAddress()
					&& LOCAL_NAMES.contains(request.getServerName());
		}
		catch (UnknownHostException ex) {
			return false;
		}
	}

}
