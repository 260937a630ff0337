package io.github.lockspring.zookeeper;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.KeeperException.NoNodeException;
import org.apache.zookeeper.ZooKeeper;

/**
 * A server in this JVM, whose sessions may be short or long.
 */
final class ZooKeeperTestServer implements AutoCloseable {

	/** Sessions last for two ticks at least. */
	private static final int TICK_MILLIS = 200;

	private static final String ROOT = "/lock";

	private final TestingServer server;

	private final CuratorFramework admin;

	private ZooKeeperTestServer(int tickMillis) {
		// how often containers that are empty are looked for
		System.setProperty("znode.container.checkIntervalMs", "1000");
		System.setProperty("zookeeper.4lw.commands.whitelist", "srvr, wchp");
		InstanceSpec spec = new InstanceSpec(null, -1, -1, -1, true, 1, tickMillis, 1000,
				Map.of("maxSessionTimeout", "600000", "admin.enableServer", "false"));
		this.server = get(() -> new TestingServer(spec, true));
		this.admin = client(Duration.ofSeconds(30));
		this.admin.start();
	}

	/** Calls what may throw anything. */
	static <T> T get(Callable<T> call) {
		try {
			return call.call();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static final class Shared {

		private static final ZooKeeperTestServer SERVER = start();

	}

	/** The server of tests that neither stop it nor count its nodes. */
	static ZooKeeperTestServer shared() {
		return Shared.SERVER;
	}

	/** A server of its own. */
	static ZooKeeperTestServer start() {
		return new ZooKeeperTestServer(TICK_MILLIS);
	}

	/** A server whose sessions may last for 20 ticks, also after a restart. */
	static ZooKeeperTestServer start(Duration tick) {
		return new ZooKeeperTestServer((int) tick.toMillis());
	}

	static ZooKeeperStoreSettings settings(Duration sessionTimeout) {
		return new ZooKeeperStoreSettings("lock:", sessionTimeout, Duration.ofSeconds(5), null, false, 0);
	}

	String connectString() {
		return this.server.getConnectString();
	}

	int port() {
		return this.server.getPort();
	}

	/** A client that was not started. */
	CuratorFramework client(Duration sessionTimeout) {
		return client(this.server.getConnectString(), sessionTimeout);
	}

	static CuratorFramework client(String connectString, Duration sessionTimeout) {
		return CuratorFrameworkFactory.builder()
			.connectString(connectString)
			.sessionTimeoutMs((int) sessionTimeout.toMillis())
			.connectionTimeoutMs(2000)
			.retryPolicy(new RetryOneTime(100))
			.build();
	}

	/** Counts the entries of all locks; containers go without help. */
	int entries() {
		return locks().stream().mapToInt((lock) -> children(ROOT + "/" + lock).size()).sum();
	}

	List<String> locks() {
		return children(ROOT);
	}

	private List<String> children(String path) {
		return get(() -> {
			try {
				return this.admin.getChildren().forPath(path);
			}
			catch (NoNodeException ex) {
				return List.of();
			}
		});
	}

	/** Counts the transactions that the server has ever executed. */
	long transactions() {
		return state("Zxid");
	}

	/** Counts the requests of all clients so far, this one among them. */
	long requests() {
		return state("Received");
	}

	private long state(String name) {
		String state = ask(port(), "srvr");
		Matcher matcher = Pattern.compile(name + ": (\\S+)").matcher(state);
		if (!matcher.find()) {
			throw new IllegalStateException(state);
		}
		return Long.decode(matcher.group(1));
	}

	/**
	 * Counts the watches of entries. Each client also has one of its own, some time after
	 * it has connected.
	 */
	long watches() {
		Pattern watched = Pattern.compile("^" + ROOT + "/.*\n((?:\t.*\n)*)", Pattern.MULTILINE);
		return watched.matcher(ask(port(), "wchp")).results().flatMap((path) -> path.group(1).lines()).count();
	}

	/** Sends one of the commands that consist of four letters. */
	static String ask(int port, String command) {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
			socket.setSoTimeout(1000);
			socket.getOutputStream().write(command.getBytes(StandardCharsets.US_ASCII));
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
		}
		catch (IOException ex) {
			return "";
		}
	}

	/** Creates a node, so the server does not delete the root as an empty container. */
	void keepRoot() {
		get(() -> this.admin.create().orSetData().creatingParentContainersIfNeeded().forPath(ROOT + "/kept"));
	}

	void deleteAll() {
		for (String lock : locks()) {
			String path = ROOT + "/" + lock;
			children(path).forEach((entry) -> get(() -> this.admin.delete().quietly().forPath(path + "/" + entry)));
		}
	}

	/** Makes the server end a session, as it does when it has heard nothing of it. */
	void expire(ZooKeeper victim) {
		get(() -> {
			CountDownLatch connected = new CountDownLatch(1);
			try (ZooKeeper twin = new ZooKeeper(connectString(), victim.getSessionTimeout(),
					(event) -> connected.countDown(), victim.getSessionId(), victim.getSessionPasswd())) {
				connected.await();
			}
			return null;
		});
	}

	/** The server is down, with its data. */
	void stop() {
		get(() -> {
			this.server.stop();
			return null;
		});
	}

	/** The server is back, on the same port and with its data. */
	void restart() {
		get(() -> {
			this.server.restart();
			return null;
		});
	}

	@Override
	public void close() {
		this.admin.close();
		get(() -> {
			this.server.close();
			return null;
		});
	}

}
