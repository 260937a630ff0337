package io.github.lockspring.lab.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The network between one client and one server: a TCP proxy that holds bytes back, loses
 * an answer, or leads to another server. Thread-safe.
 */
/*
 * For maintainers: one thread accepts, and two threads for each connection copy, one for
 * each direction. Before each write they wait under the monitor while their direction is
 * held; everything that changes a fault notifies it.
 */
public final class NetworkProxy implements AutoCloseable {

	/** A direction in which bytes pass. */
	public enum Direction {

		/** From the client to the server: commands. */
		TO_SERVER,
		/** From the server to the client: answers. */
		TO_CLIENT

	}

	private final ServerSocket listener;

	private final Set<Link> links = ConcurrentHashMap.newKeySet();

	private final Set<Direction> held = EnumSet.noneOf(Direction.class);

	private volatile int target;

	private boolean losing;

	private volatile boolean refusing;

	private boolean closed;

	/**
	 * Opens a proxy on a free port.
	 * @param target the port of the server
	 */
	public NetworkProxy(int target) {
		this.target = target;
		try {
			this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		daemon(this::accept);
	}

	/**
	 * Returns the port of the proxy, on the loopback interface.
	 * @return the port
	 */
	public int port() {
		return this.listener.getLocalPort();
	}

	/**
	 * Holds back all bytes in these directions until {@link #heal()}, as a network does
	 * that is cut: nothing arrives, and connections stay open.
	 * @param directions the directions
	 */
	public synchronized void hold(Direction... directions) {
		this.held.addAll(Set.of(directions));
	}

	/** Lets the bytes pass that were held back, and all others. */
	public synchronized void heal() {
		this.held.clear();
		this.losing = false;
		this.refusing = false;
		notifyAll();
	}

	/** Breaks all connections and refuses new ones until {@link #heal()}. */
	public void refuse() {
		this.refusing = true;
		this.links.forEach(Link::close);
	}

	/**
	 * Loses the next answer: the server has executed the command, and the connection
	 * breaks before its client gets the answer.
	 */
	public synchronized void loseNextAnswer() {
		this.losing = true;
	}

	/**
	 * Leads to another server, as a virtual address does after a failover. Present
	 * connections break.
	 * @param port the port of the server
	 */
	public void target(int port) {
		this.target = port;
		this.links.forEach(Link::close);
	}

	@Override
	public void close() {
		closeQuietly(this.listener);
		synchronized (this) {
			this.closed = true;
			notifyAll();
		}
		this.links.forEach(Link::close);
	}

	private void accept() {
		while (!this.listener.isClosed()) {
			try {
				Socket client = this.listener.accept();
				if (this.refusing) {
					client.close();
				}
				else {
					connect(client);
				}
			}
			catch (IOException ex) {
				// closed, or the client is gone
			}
		}
	}

	private void connect(Socket client) throws IOException {
		try {
			Link link = new Link(client, new Socket(InetAddress.getLoopbackAddress(), this.target));
			this.links.add(link);
			daemon(() -> copy(link, Direction.TO_SERVER));
			daemon(() -> copy(link, Direction.TO_CLIENT));
		}
		catch (IOException ex) {
			client.setSoLinger(true, 0);
			client.close();
		}
	}

	private void copy(Link link, Direction direction) {
		boolean up = direction == Direction.TO_SERVER;
		byte[] buffer = new byte[16 * 1024];
		try {
			InputStream in = (up ? link.client : link.server).getInputStream();
			OutputStream out = (up ? link.server : link.client).getOutputStream();
			int count;
			while ((count = in.read(buffer)) >= 0 && mayPass(direction)) {
				out.write(buffer, 0, count);
			}
		}
		catch (IOException ex) {
			// ends the link, as the end of the stream does
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		link.close();
		this.links.remove(link);
	}

	private synchronized boolean mayPass(Direction direction) throws InterruptedException {
		while (this.held.contains(direction) && !this.closed) {
			wait();
		}
		if (this.losing && direction == Direction.TO_CLIENT) {
			this.losing = false;
			return false;
		}
		return !this.closed;
	}

	private static void daemon(Runnable task) {
		Thread thread = new Thread(task, "lab-network");
		thread.setDaemon(true);
		thread.start();
	}

	private static void closeQuietly(AutoCloseable closeable) {
		try {
			closeable.close();
		}
		catch (Exception ex) {
			// it is gone in either case
		}
	}

	private record Link(Socket client, Socket server) {

		Link {
			try {
				client.setTcpNoDelay(true);
				server.setTcpNoDelay(true);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		void close() {
			closeQuietly(this.client);
			closeQuietly(this.server);
		}

	}

}
