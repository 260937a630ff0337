package io.github.lockspring.failure;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.process.JavaProcess;

/**
 * A holder of {@code order:42} in a process of its own, so that it can be stopped and
 * killed.
 */
final class HolderProcess {

	private HolderProcess() {
	}

	static JavaProcess start(int port, Duration ttl) {
		return new JavaProcess("holder-" + ProcessHandle.current().pid(), Path.of("target"), HolderProcess.class,
				List.of(String.valueOf(port), ttl.toString()));
	}

	public static void main(String[] args) {
		try (Instance instance = Instance.on(Integer.parseInt(args[0]))) {
			io.github.lockspring.testsupport.process.HolderProcess.hold(instance.locks(), "order:42",
					Duration.parse(args[1]));
		}
	}

}
