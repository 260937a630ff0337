package io.github.lockspring.testsupport.network;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * A proxy between clients and a server on the loopback interface that simulates network
 * faults. Thread-safe.
 *
 * @since 0.1
 */
/*
 * For maintainers: one thread accepts connections, and two threads per connection copy
 * bytes, one for each direction. Before each write, they read the present faults under
 * the monitor, on which they also wait while bytes are held back; every change of a fault
 * notifies the monitor. They are platform threads of a test, so blocking in a monitor
 * does no harm.
 */
public final class TcpProxy implements AutoCloseable {

	/**
	 * The direction in which bytes pass.
	 */
	public enum Direction {

		TO_SERVER, TO_CLIENT

	}

	/**
	 * The way in which a connection ends.
	 */
	public enum Cut {

		FIN, RST

	}

	private final int port;

	private volatile int target;

	private final Set<Link> links = ConcurrentHashMap.newKeySet();

	private final Set<Direction> swallowing = EnumSet.noneOf(Direction.class);

	private final Set<Direction> holding = EnumSet.noneOf(Direction.class);

	private boolean muted;

	private @Nullable String delayed;

	private Duration delay = Duration.ZERO;

	private volatile Duration connectDelay = Duration.ZERO;

	private @Nullable ServerSocket listener;

	private @Nullable Thread acceptor;

	/**
	 * Starts a proxy.
	 * @param target the port of the server
	 */
	public TcpProxy(int target) {
		this.target = target;
		this.port = ServerPorts.free();
		listen();
	}

	/** Sets the port for new connections. Open ones stay as they are. */
	public void target(int port) {
		this.target = port;
	}

	/** Returns the address of the loopback interface. */
	public String host() {
		return "127.0.0.1";
	}

	/** Returns the port of the proxy. */
	public int port() {
		return this.port;
	}

	/** Returns the number of open connections. */
	public int connections() {
		return this.links.size();
	}

	/** Returns whether a connection that is still open has lost bytes. */
	public boolean hasLostBytes() {
		return this.links.stream().anyMatch((link) -> link.lostBytes);
	}

	/** Ends all present connections. New ones are accepted. */
	public void cut(Cut cut) {
		this.links.forEach((link) -> link.end(cut));
	}

	/** Ends the present connections on which the client has subscribed to something. */
	public void cutSubscribers(Cut cut) {
		this.links.stream().filter((link) -> link.subscriber).forEach((link) -> link.end(cut));
	}

	/**
	 * Swallows what the server sends to subscribers; commands and their answers pass.
	 * Ends as {@link #stall} does.
	 */
	public synchronized void mute() {
		this.muted = true;
	}

	/**
	 * Lets the present connections on which the client has subscribed to something stay
	 * open and dead, until {@link #restore()}, as after a firewall has forgotten them.
	 */
	public synchronized void killSubscribersSilently() {
		this.links.stream().filter((link) -> link.subscriber).forEach((link) -> link.dead = true);
	}

	/** Refuses new connections, until {@link #restore()}. Present ones stay. */
	public synchronized void refuse() {
		ServerSocket listener = this.listener;
		this.listener = null;
		if (listener != null) {
			closeQuietly(listener);
			join(this.acceptor);
		}
	}

	/**
	 * Swallows all bytes that go in one of these directions (in both, if none is named);
	 * connections stay open and new ones are accepted. A connection that lost bytes is
	 * cut at {@link #restore()}.
	 */
	public synchronized void stall(Direction... directions) {
		this.swallowing.addAll(namedOrAll(directions));
	}

	/**
	 * Ends all faults for connections made from now on; the present ones stay open and
	 * dead, as after a firewall has forgotten them, until {@link #restore()}.
	 */
	public synchronized void restoreForNewConnections() {
		this.links.forEach((link) -> link.dead = true);
		endFaults();
	}

	private void endFaults() {
		this.muted = false;
		this.delayed = null;
		this.swallowing.clear();
		this.holding.clear();
		this.delay = Duration.ZERO;
		this.connectDelay = Duration.ZERO;
	}

	/**
	 * Holds back all bytes that go in one of these directions (in both, if none is
	 * named); {@link #restore()} lets them go on.
	 */
	public synchronized void hold(Direction... directions) {
		this.holding.addAll(namedOrAll(directions));
	}

	/**
	 * Holds back the next bytes to the server that contain a text, and what follows them,
	 * until {@link #restore()}. For the client, their connection ends at once, and on
	 * other connections it goes on, as if the request were on its way still.
	 */
	public synchronized void delayNext(String text) {
		this.delayed = text;
	}

	/** Returns whether bytes are held back by {@link #delayNext}. */
	public boolean isDelaying() {
		return this.links.stream().anyMatch((link) -> link.delayed);
	}

	/** Returns whether the server has answered to bytes that were held back by it. */
	public boolean hasDelivered() {
		return this.links.stream().anyMatch((link) -> link.late && !link.delayed && link.heard);
	}

	/** Delays each chunk of bytes, in both directions. */
	public synchronized void delay(Duration delay) {
		this.delay = delay;
	}

	/** Delays each new connection: it is accepted, but no byte passes before. */
	public void delayConnections(Duration delay) {
		this.connectDelay = delay;
	}

	/** Ends all faults. */
	public synchronized void restore() {
		endFaults();
		this.links.forEach((link) -> link.delayed = false);
		this.links.stream().filter((link) -> link.lostBytes || link.dead).forEach((link) -> link.end(Cut.RST));
		notifyAll();
		if (this.listener == null) {
			listen();
		}
	}

	@Override
	public void close() {
		refuse();
		cut(Cut.RST);
		synchronized (this) {
			this.holding.clear();
			notifyAll();
		}
	}

	private static Set<Direction> namedOrAll(Direction... directions) {
		return (directions.length == 0) ? EnumSet.allOf(Direction.class) : EnumSet.copyOf(Arrays.asList(directions));
	}

	private void listen() {
		try {
			ServerSocket listener = new ServerSocket();
			listener.setReuseAddress(true);
			listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), this.port), 500);
			this.listener = listener;
			this.acceptor = daemon("accept", () -> accept(listener));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void accept(ServerSocket listener) {
		while (!listener.isClosed()) {
			try {
				Socket client = listener.accept();
				try {
					new Link(client, new Socket(InetAddress.getLoopbackAddress(), this.target)).begin();
				}
				catch (IOException ex) {
					client.setSoLinger(true, 0);
					client.close();
				}
			}
			catch (IOException ex) {
				// closed, or this one connection failed
			}
		}
	}

	// the port is open until the thread has left accept()
	private static void join(@Nullable Thread thread) {
		try {
			if (thread != null) {
				thread.join();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static Thread daemon(String name, Runnable task) {
		Thread thread = new Thread(task, "tcp-proxy-" + name);
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	private static void closeQuietly(AutoCloseable closeable) {
		try {
			closeable.close();
		}
		catch (Exception ex) {
			// it is gone one way or the other
		}
	}

	private final class Link {

		private final Socket client;

		private final Socket server;

		private volatile boolean lostBytes;

		private volatile boolean dead;

		private volatile boolean subscriber;

		/** Whether bytes were held back whose client is gone. */
		private volatile boolean late;

		/** Whether they still are. */
		private volatile boolean delayed;

		/** Whether the server has sent something since, or has ended the connection. */
		private volatile boolean heard;

		private final Duration connectDelay = TcpProxy.this.connectDelay;

		Link(Socket client, Socket server) throws IOException {
			this.client = client;
			this.server = server;
			client.setTcpNoDelay(true);
			server.setTcpNoDelay(true);
		}

		void begin() {
			TcpProxy.this.links.add(this);
			daemon("up", () -> copy(this.client, this.server, Direction.TO_SERVER));
			daemon("down", () -> copy(this.server, this.client, Direction.TO_CLIENT));
		}

		private void copy(Socket from, Socket to, Direction direction) {
			byte[] buffer = new byte[16 * 1024];
			try {
				Thread.sleep(this.connectDelay.toMillis());
				InputStream in = from.getInputStream();
				OutputStream out = to.getOutputStream();
				int count;
				while ((count = in.read(buffer)) >= 0) {
					if (direction == Direction.TO_SERVER) {
						look(new String(buffer, 0, count, StandardCharsets.ISO_8859_1));
					}
					else {
						this.heard = this.late && !this.delayed;
					}
					if (mayPass(direction)) {
						out.write(buffer, 0, count);
					}
				}
			}
			catch (IOException ex) {
				// ends the link, as the end of the stream does
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			if (!this.late) {
				end(Cut.FIN);
			}
			else if (direction == Direction.TO_CLIENT) {
				this.heard = true;
			}
		}

		private void look(String sent) throws IOException {
			this.subscriber |= sent.contains("SUBSCRIBE");
			synchronized (TcpProxy.this) {
				String delayed = TcpProxy.this.delayed;
				if (delayed != null && sent.contains(delayed)) {
					TcpProxy.this.delayed = null;
					this.late = true;
					this.delayed = true;
					this.client.shutdownOutput();
				}
			}
		}

		private boolean mayPass(Direction direction) throws InterruptedException {
			TcpProxy proxy = TcpProxy.this;
			Duration delay;
			synchronized (proxy) {
				delay = proxy.delay;
			}
			if (!delay.isZero()) {
				Thread.sleep(delay.toMillis());
			}
			synchronized (proxy) {
				while (proxy.holding.contains(direction) || (this.delayed && direction == Direction.TO_SERVER)) {
					proxy.wait();
				}
				if (this.late && direction == Direction.TO_CLIENT) {
					return false;
				}
				if (this.dead || proxy.swallowing.contains(direction)
						|| proxy.muted && this.subscriber && direction == Direction.TO_CLIENT) {
					this.lostBytes = true;
					return false;
				}
				return true;
			}
		}

		void end(Cut cut) {
			if (!TcpProxy.this.links.remove(this)) {
				return;
			}
			this.delayed = false;
			try {
				if (cut == Cut.RST) {
					this.client.setSoLinger(true, 0);
				}
				else {
					this.client.shutdownOutput();
				}
			}
			catch (IOException ex) {
				// the other side was faster
			}
			closeQuietly(this.client);
			closeQuietly(this.server);
		}

	}

}
