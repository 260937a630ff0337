package io.github.lockspring.zookeeper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.testsupport.history.ServerGroup;
import io.github.lockspring.testsupport.network.ServerPorts;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.process.RunDirectory;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

import static org.awaitility.Awaitility.await;

/**
 * Three servers of an ensemble in JVMs of their own, which may be paused and killed. For
 * one thread.
 */
final class ZooKeeperProcesses implements AutoCloseable {

	private static final int COUNT = 3;

	/** A follower that is silent for ten of them is dropped. */
	private static final int TICK_MILLIS = 200;

	private final Path directory;

	private final List<Member> members = new ArrayList<>();

	ZooKeeperProcesses(Path directory) throws IOException {
		this.directory = Files.createDirectories(directory);
		StringBuilder servers = new StringBuilder();
		for (int id = 1; id <= COUNT; id++) {
			servers.append("server.%d=127.0.0.1:%d:%d%n".formatted(id, ServerPorts.free(), ServerPorts.free()));
		}
		for (int id = 1; id <= COUNT; id++) {
			this.members.add(new Member(id, servers.toString()));
		}
		await().atMost(Duration.ofMinutes(2)).until(() -> this.members.stream().anyMatch(Member::isLeader));
	}

	List<Member> servers() {
		return this.members;
	}

	@Override
	public void close() {
		this.members.forEach(Member::kill);
		RunDirectory.delete(this.directory);
	}

	/**
	 * A server.
	 */
	final class Member implements ServerGroup.Server {

		private final int id;

		private final int port = ServerPorts.free();

		private final Path configuration;

		private JavaProcess process;

		private Member(int id, String servers) throws IOException {
			this.id = id;
			Path data = Files.createDirectories(ZooKeeperProcesses.this.directory.resolve("data-" + id));
			Files.writeString(data.resolve("myid"), String.valueOf(id));
			this.configuration = ZooKeeperProcesses.this.directory.resolve("server-" + id + ".cfg");
			Files.writeString(this.configuration, """
					tickTime=%d
					initLimit=50
					syncLimit=10
					dataDir=%s
					clientPort=%d
					maxClientCnxns=0
					maxSessionTimeout=600000
					admin.enableServer=false
					4lw.commands.whitelist=srvr
					%s""".formatted(TICK_MILLIS, data, this.port, servers));
			this.process = run();
		}

		private JavaProcess run() {
			return new JavaProcess("server-" + this.id, ZooKeeperProcesses.this.directory,
					List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no",
							"-Dznode.container.checkIntervalMs=1000",
							"-Dlogback.configurationFile=io/github/lockspring/testsupport/process/logback.xml"),
					QuorumPeerMain.class, List.of(this.configuration.toString()));
		}

		@Override
		public int port() {
			return this.port;
		}

		@Override
		public boolean isLeader() {
			return ZooKeeperEnsemble.status(this.port).contains("Mode: leader");
		}

		@Override
		public void pause() {
			this.process.signal("STOP");
		}

		@Override
		public void resume() {
			this.process.signal("CONT");
		}

		@Override
		public void kill() {
			this.process.close();
		}

		@Override
		public void start() {
			this.process = run();
		}

	}

}
