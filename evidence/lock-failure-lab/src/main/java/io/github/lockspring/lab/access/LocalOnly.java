package io.github.lockspring.lab.access;

import java.net.InetAddress;
import java.net.UnknownHostException;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerInterceptor;

/**
 * Refuses requests from other machines.
 */
final class LocalOnly implements HandlerInterceptor {

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
		if (!isLocal(request)) {
			throw new ResponseStatusException(HttpStatus.FORBIDDEN,
					"The failure lab and the experiments start and kill processes, so they answer this machine only (http://localhost)."
							+ " Set lab.remote-access=true to open them to others");
		}
		return true;
	}

	static boolean isLocal(HttpServletRequest request) {
		try {
			return InetAddress.getByName(request.getRemoteAddr()).isLoopbackAddress();
		}
		catch (UnknownHostException ex) {
			return false;
		}
	}

}
