package io.github.lockspring.autoconfigure;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.function.Supplier;

import io.github.lockspring.store.InstanceInfo;

import org.springframework.core.env.Environment;

/**
 * Describes this process to others that ask who holds a lock.
 *
 * @param environment has the application's name, and that of the machine if it is set
 * there
 */
record InstanceDescription(Environment environment) implements Supplier<InstanceInfo> {

	@Override
	public InstanceInfo get() {
		return new InstanceInfo(this.environment.getProperty("spring.application.name", ""), host(),
				ProcessHandle.current().pid());
	}

	/** Containers have it in their environment; the resolver may block. */
	private String host() {
		String host = this.environment.getProperty("HOSTNAME", "");
		if (!host.isEmpty()) {
			return host;
		}
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "unknown";
		}
	}

}
