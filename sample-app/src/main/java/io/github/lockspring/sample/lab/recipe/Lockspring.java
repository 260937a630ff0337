package io.github.lockspring.sample.lab.recipe;

import java.util.HashMap;
import java.util.Map;

import javax.sql.DataSource;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockListener;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.annotation.DistributedLock;
import io.github.lockspring.sample.lab.worker.Recipe;
import io.github.lockspring.sample.lab.worker.Shop;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/**
 * A Spring application whose method sells under {@code @DistributedLock}, renewed.
 * Nothing checks the lock when the sale is written.
 */
class Lockspring implements Recipe {

	private final Shop shop;

	private final ConfigurableApplicationContext context;

	private final BoxOffice office;

	Lockspring(Shop shop) {
		this(shop, Application.class);
	}

	Lockspring(Shop shop, Class<?> application) {
		this.shop = shop;
		Map<String, Object> properties = new HashMap<>(shop.properties());
		properties.put("spring.data.redis.host", "127.0.0.1");
		properties.put("spring.data.redis.port", shop.ports().get(0));
		properties.put("distributed-lock.wait-time", "1s");
		properties.put("distributed-lock.ttl", shop.ttl().toMillis() + "ms");
		this.context = new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.registerShutdownHook(false)
			.initializers((context) -> context.getBeanFactory().registerSingleton("shop", shop))
			.properties(properties)
			.run();
		this.office = this.context.getBean(BoxOffice.class);
	}

	@Override
	public void sell() {
		try {
			this.office.sell();
		}
		catch (LockNotAcquiredException ex) {
			this.shop.busy();
		}
		catch (LockLostException ex) {
			this.shop.lost(ex.getMessage());
		}
	}

	@Override
	public void close() {
		this.context.close();
	}

	/** What an application writes. */
	static class BoxOffice {

		private final Shop shop;

		BoxOffice(Shop shop) {
			this.shop = shop;
		}

		@DistributedLock(name = "concert", key = "'1'", renew = true)
		public void sell() {
			HeldLock lock = HeldLock.current().orElseThrow();
			this.shop.acquired(System.nanoTime() + lock.remaining().toNanos(), lock.fencingToken(), true);
			this.shop.sellSeat();
			this.shop.released();
		}

	}

	@EnableAutoConfiguration
	static class Application {

		@Bean
		BoxOffice office(Shop shop) {
			return new BoxOffice(shop);
		}

		@Bean
		DataSource dataSource(Shop shop) {
			return shop.database();
		}

		@Bean
		static LockListener reports(Shop shop) {
			return (event) -> {
				if (event instanceof LockEvent.Lost lost) {
					shop.lost(lost.reason());
				}
			};
		}

	}

}
