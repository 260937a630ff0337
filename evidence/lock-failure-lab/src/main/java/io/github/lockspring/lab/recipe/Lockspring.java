package io.github.lockspring.lab.recipe;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import javax.sql.DataSource;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.lab.worker.Recipe;
import io.github.lockspring.lab.worker.Shop;
import io.github.lockspring.store.LockStore;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;

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
		this.context = new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.registerShutdownHook(false)
			.initializers((context) -> context.getBeanFactory().registerSingleton("shop", shop))
			.properties(properties(shop))
			.run();
		this.office = this.context.getBean(BoxOffice.class);
		try {
			this.context.getBean(LockTemplate.class)
				.execute(LockRequest.of("opening").waitTime(Duration.ofSeconds(20)), (lock) -> true);
		}
		catch (LockLostException ex) {
			// on a machine that stalls for longer than a lease; the shop is open
		}
		catch (RuntimeException ex) {
			close();
			throw ex;
		}
	}

	private static Map<String, Object> properties(Shop shop) {
		Map<String, Object> properties = new HashMap<>(shop.properties());
		// the application around the lab may have another store too
		properties.putIfAbsent("distributed-lock.store", "redis");
		if ("redlock".equals(properties.get("distributed-lock.store"))) {
			for (int i = 0; i < shop.ports().size(); i++) {
				properties.put("distributed-lock.redlock.nodes[" + i + "]", "redis://127.0.0.1:" + shop.ports().get(i));
			}
		}
		properties.put("spring.data.redis.host", "127.0.0.1");
		properties.put("spring.data.redis.port", shop.ports().get(0));
		properties.put("distributed-lock.wait-time", "1s");
		properties.put("distributed-lock.ttl", shop.ttl().toMillis() + "ms");
		return properties;
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
			this.shop.lost(String.valueOf(ex.getMessage()));
		}
	}

	@Override
	public void close() {
		this.context.close();
	}

	/** What an application writes. */
	public static class BoxOffice {

		private final Shop shop;

		private final Writer writer;

		BoxOffice(Shop shop, Writer writer) {
			this.shop = shop;
			this.writer = writer;
		}

		@DistributedLock(name = "concert", key = "'1'", renew = true)
		public void sell() {
			long now = System.nanoTime();
			HeldLock lock = HeldLock.current().orElseThrow();
			this.shop.acquired(now + lock.remaining().toNanos(), lock.fencingToken(), true);
			Integer seat = this.shop.lowestFreeSeat();
			if (seat != null) {
				this.shop.awaitPayment();
				this.writer.write(seat);
			}
			this.shop.released();
		}

	}

	/** How a sale is written. */
	@FunctionalInterface
	interface Writer {

		void write(int seat);

	}

	record LossReports(Shop shop) {

		@EventListener
		void lost(LockEvent.Lost event) {
			this.shop.lost(event.reason());
		}

	}

	@EnableAutoConfiguration
	static class Application {

		@Bean
		BoxOffice office(Shop shop, ObjectProvider<Writer> writer) {
			return new BoxOffice(shop, writer.getIfAvailable(() -> shop::writeSale));
		}

		@Bean
		DataSource dataSource(Shop shop) {
			return shop.database();
		}

		@Bean
		static LossReports lossReports(Shop shop) {
			return new LossReports(shop);
		}

		@Bean
		static BeanPostProcessor commandReports(Shop shop) {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String name) {
					return (bean instanceof LockStore store) ? new ReportingStore(store, shop) : bean;
				}

			};
		}

	}

}
