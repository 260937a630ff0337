package io.github.lockspring.sample;

import java.util.Set;
import java.util.TreeSet;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Names this instance, and lists the other ones.
 */
@Component
public class Instance {

	private static final Logger logger = LoggerFactory.getLogger(Instance.class);

	private static final String INSTANCES = "shop:instances";

	private final StringRedisTemplate redis;

	private final String server;

	private volatile int port;

	Instance(StringRedisTemplate redis, @Value("${shop.redis.server:as configured}") String server) {
		this.redis = redis;
		this.server = server;
	}

	@EventListener
	void started(WebServerInitializedEvent event) {
		this.port = event.getWebServer().getPort();
		logger.info("Open http://localhost:{}. Redis: {}", this.port, this.server);
	}

	@Scheduled(fixedDelay = 5000)
	void announce() {
		try {
			this.redis.opsForZSet().add(INSTANCES, String.valueOf(this.port), System.currentTimeMillis());
		}
		catch (DataAccessException ex) {
			// the page shows it; the next announcement is due in five seconds
		}
	}

	public String name() {
		return "instance " + this.port;
	}

	public int port() {
		return this.port;
	}

	/**
	 * Describes the Redis server in use.
	 * @return a description to be displayed
	 */
	public String server() {
		return this.server;
	}

	/**
	 * Returns the ports of all instances that were running in the last 15 seconds.
	 * @return the ports
	 */
	public Set<Integer> all() {
		long now = System.currentTimeMillis();
		Set<Integer> ports = new TreeSet<>();
		Set<String> known = this.redis.opsForZSet().rangeByScore(INSTANCES, now - 15_000, Double.MAX_VALUE);
		if (known != null) {
			known.forEach((port) -> ports.add(Integer.valueOf(port)));
		}
		ports.add(this.port);
		return ports;
	}

}
