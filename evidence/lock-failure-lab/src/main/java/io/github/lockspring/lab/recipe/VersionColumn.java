package io.github.lockspring.lab.recipe;

import java.util.List;

import io.github.lockspring.lab.worker.Recipe;
import io.github.lockspring.lab.worker.Shop;

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
		List<Seat> free = this.jdbc.query(
				"SELECT number, version FROM seats WHERE NOT EXISTS (SELECT 1 FROM sales WHERE seat = seats.number)"
						+ " ORDER BY number FETCH FIRST ROW ONLY",
				(row, index) -> new Seat(row.getInt("number"), row.getInt("version")));
		if (free.isEmpty()) {
			return;
		}
		Seat seat = free.get(0);
		this.shop.awaitPayment();
		this.transaction.executeWithoutResult((status) -> {
			int updated = this.jdbc.update("UPDATE seats SET version = version + 1 WHERE number = ? AND version = ?",
					seat.number(), seat.version());
			if (updated == 1) {
				this.shop.writeSale(seat.number());
			}
			else {
				this.shop.refused(seat.number(), "the version of the seat has changed");
			}
		});
	}

	private record Seat(int number, int version) {
	}

}
