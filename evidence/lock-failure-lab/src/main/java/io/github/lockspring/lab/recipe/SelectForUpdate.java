package io.github.lockspring.lab.recipe;

import io.github.lockspring.lab.worker.Recipe;
import io.github.lockspring.lab.worker.Shop;

import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Locks a row of the database with {@code SELECT … FOR UPDATE}, and sells in the same
 * transaction.
 */
final class SelectForUpdate implements Recipe {

	private final Shop shop;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transaction;

	SelectForUpdate(Shop shop) {
		this.shop = shop;
		this.jdbc = new JdbcTemplate(shop.database());
		this.transaction = new TransactionTemplate(new JdbcTransactionManager(shop.database()));
	}

	@Override
	public void sell() {
		try {
			this.transaction.executeWithoutResult((status) -> {
				this.jdbc.queryForList("SELECT id FROM concert WHERE id = 1 FOR UPDATE");
				this.shop.acquired();
				this.shop.sellSeat();
				this.shop.released();
			});
		}
		catch (PessimisticLockingFailureException | QueryTimeoutException ex) {
			this.shop.busy();
		}
	}

}
