package io.github.lockspring.sample.lab.recipe;

import java.util.Map;

import io.github.lockspring.sample.lab.worker.Recipe;
import io.github.lockspring.sample.lab.worker.Shop;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Takes no lock. Reads the version of a seat with it, and sells only if the version is
 * still the same.
 */
final class VersionColumn implements Recipe {

	private final Shop shop;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transaction;

	VersionColumn(Shop shop) {
		this.shop = shop;
		this.jdbc = new JdbcTemplate(shop.database());
		this.transaction = new TransactionTemplate(new JdbcTransactionManager(shop.database()));
	}

	@Override
	public void sell() {
		// the seat and its version in one statement: a version that is read later is that
		// of a seat which may have been sold in between
		Map<String, Object> free = this.jdbc.queryForMap(
				"SELECT number, version FROM seats WHERE NOT EXISTS (SELECT 1 FROM sales WHERE seat = seats.number)"
						+ " ORDER BY number FETCH FIRST ROW ONLY");
		int seat = (int) free.get("number");
		int version = (int) free.get("version");
		this.shop.awaitPayment();
		this.transaction.executeWithoutResult((status) -> {
			int updated = this.jdbc.update("UPDATE seats SET version = version + 1 WHERE number = ? AND version = ?",
					seat, version);
			if (updated == 1) {
				this.shop.writeSale(seat);
			}
			else {
				this.shop.refused(seat, "the version of the seat has changed");
			}
		});
	}

}
