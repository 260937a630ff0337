package io.github.lockspring.sample;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Set;
import java.util.TreeSet;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Names this instance and lists all running ones.
 */
@Component
public class Instance {

	private static final Logger logger = LoggerFactory.getLogger(Instance.class);

	private final JdbcTemplate jdbc;

	private final InetAddress address;

	private final String server;

	private volatile int port;

	Instance(JdbcTemplate jdbc, @Value("${server.address}") InetAddress address,
			@Value("${lab.redis.server:in the database}") String server) {
		this.jdbc = jdbc;
		this.address = address;
		this.server = server;
	}

	@EventListener
	void started(WebServerInitializedEvent event) {
		this.port = event.getWebServer().getPort();
		logger.info("Open http://{}:{}. Locks: {}", host(this.address), this.port, this.server);
	}

	/** Returns the host name for a browser on this machine. */
	static String host(InetAddress address) {
		if (address.isLoopbackAddress() || address.isAnyLocalAddress()) {
			return "localhost";
		}
		return (address instanceof Inet6Address) ? "[" + address.getHostAddress() + "]" : address.getHostAddress();
	}

	@Scheduled(fixedDelay = 5000)
	void announce() {
		try {
			this.jdbc.update("MERGE INTO instances (port, announced) VALUES (?, ?)", this.port,
					System.currentTimeMillis());
		}
		catch (DataAccessException ex) {
			// the page shows the failure, and the next announcement follows in five
			// seconds
		}
	}

	public String name() {
		return "instance " + this.port;
	}

	public int port() {
		return this.port;
	}

	/**
	 * Describes where the locks are stored.
	 * @return the description for the page
	 */
	public String server() {
		return this.server;
	}

	/**
	 * Returns the ports of all instances that have run in the last 15 seconds.
	 * @return the ports
	 */
	public Set<Integer> all() {
		Set<Integer> ports = new TreeSet<>(
				this.jdbc.queryForList("SELECT port FROM instances WHERE announced > ? AND port > 0", Integer.class,
						System.currentTimeMillis() - 15_000));
		ports.add(this.port);
		return ports;
	}

}
