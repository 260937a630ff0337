package io.github.lockspring.sample;

import java.util.List;

import io.github.lockspring.test.AutoConfigureDistributedLocks;
import io.github.lockspring.test.LockTester;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Import;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The shop's locks, in memory: no Redis runs.
 */
@SpringBootTest(properties = { "shop.report.cron=-", "shop.packing-time=1s",
		"spring.datasource.url=jdbc:h2:mem:orders;DB_CLOSE_DELAY=-1" })
@AutoConfigureMockMvc
@Import(PageRequests.class)
@AutoConfigureDistributedLocks
class OrderServiceTests {

	@Autowired
	private OrderService orders;

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private LockTester locks;

	@Test
	void shipsUnderTheLocksOfTheOrderAndItsArticles() {
		assertThat(this.orders.ship(new Order("order-1", List.of("tea", "cup")))).isTrue();
		this.locks.assertTaken("order:order-1").assertTaken("stock:tea").assertTaken("stock:cup");
	}

	@Test
	void shopWithoutItsLocksIsUnavailable() {
		this.locks.makeUnavailable("stock:tea");
		assertThat(this.mvc.post().uri("/api/stock/tea/sell")).hasStatus(503);
	}

}
