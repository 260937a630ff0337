package io.github.lockspring.sample;

import java.net.http.HttpResponse;
import java.util.List;

import io.github.lockspring.jdbc.JdbcLockStore;
import io.github.lockspring.store.LockStore;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.ActiveProfiles;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The shop without any server: its locks are in its database, and there is no Redis at
 * the port that the properties name.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "shop.report.cron=-", "spring.data.redis.port=1", "distributed-lock.wait-time=60s" })
@ActiveProfiles("jdbc")
class JdbcProfileTests {

	@LocalServerPort
	private int port;

	@Autowired
	private LockStore store;

	@Autowired
	private JdbcTemplate jdbc;

	@Test
	void sellsUnderLocksInTheDatabase() {
		Shop shop = new Shop(this.port);
		List<HttpResponse<String>> sales = shop.postAtOnce(20, "/api/stock/tea/sell");
		assertThat(sales).allSatisfy((sale) -> assertThat(sale.statusCode()).as(sale.body()).isEqualTo(200));
		assertThat(shop.post("/api/orders/one/ship").join().statusCode()).isEqualTo(200);
		assertThat(shop.get("/api/shop")).contains("\"tea\":979").contains("\"instances\":[" + this.port + "]");
		assertThat(shop.get("/api/instance")).contains("in the database").doesNotContainIgnoringCase("redis");
		assertThat(this.store).isInstanceOf(JdbcLockStore.class);
		assertThat(this.jdbc.queryForList("SELECT lock_key FROM lock_lease", String.class)).contains("lock:stock:tea");
	}

}
