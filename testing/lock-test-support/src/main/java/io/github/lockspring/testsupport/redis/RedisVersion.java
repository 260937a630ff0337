package io.github.lockspring.testsupport.redis;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import redis.embedded.RedisExecProvider;

/**
 * The versions of redis-server that tests can start. Thread-safe.
 *
 * @since 0.1
 */
public enum RedisVersion {

	/** The oldest version that is supported; the build unpacks it. */
	V6_2 {
		@Override
		Path find() throws IOException {
			String system = System.getProperty("os.name").startsWith("Mac") ? "darwin" : "linux";
			String processor = switch (System.getProperty("os.arch")) {
				case "amd64", "x86_64" -> "amd64";
				case "aarch64", "arm64" -> "arm64";
				default -> "386";
			};
			try (Stream<Path> files = Files.list(Path.of("target", "redis-6.2"))) {
				Path file = files.filter((path) -> path.toString().endsWith('-' + system + '-' + processor))
					.findFirst()
					.orElseThrow(() -> new IOException("No redis-server for " + system + ' ' + processor));
				file.toFile().setExecutable(true);
				return file.toAbsolutePath();
			}
		}
	},

	/**
	 * 7.0, or another server of this machine, such as valkey-server, if the system
	 * property {@code lockspring.redis-server} names one.
	 */
	DEFAULT {
		@Override
		Path find() throws IOException {
			String named = System.getProperty("lockspring.redis-server", "");
			if (!named.isEmpty()) {
				return Path.of(named);
			}
			File file = RedisExecProvider.defaultProvider().get();
			file.deleteOnExit();
			return file.toPath();
		}
	};

	private @Nullable Path executable;

	abstract Path find() throws IOException;

	synchronized Path executable() throws IOException {
		Path path = this.executable;
		if (path == null) {
			path = find();
			this.executable = path;
		}
		return path;
	}

	/** Returns what the binary prints as its version; empty if it does not run here. */
	public String banner() {
		try {
			Process process = new ProcessBuilder(executable().toString(), "--version").redirectErrorStream(true)
				.start();
			String line = process.inputReader().readLine();
			return (process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0 && line != null) ? line : "";
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

}
