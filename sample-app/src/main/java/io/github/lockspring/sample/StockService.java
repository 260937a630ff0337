package io.github.lockspring.sample;

import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Sells single pieces, and counts what is in stock.
 */
@Service
public class StockService {

	private final Shelves shelves;

	StockService(Shelves shelves) {
		this.shelves = shelves;
	}

	/**
	 * Sells one piece. Each of the three annotations has a task of its own: the lock
	 * makes the sales wait for each other, the transaction is rolled back if the lock was
	 * lost before its commit, and fencing lets the database refuse this instance if a
	 * later one has sold meanwhile.
	 * @param article the article
	 * @return the pieces left
	 */
	@Transactional
	@Fenced
	@DistributedLock(name = "stock", key = "#article")
	public int sell(String article) {
		return this.shelves.takeOne(article);
	}

	/**
	 * Sells one piece without a lock, to show that a transaction alone does not prevent
	 * lost updates.
	 * @param article the article
	 * @return the pieces left
	 */
	@Transactional
	public int sellWithoutLock(String article) {
		return this.shelves.takeOne(article);
	}

	/**
	 * Counts the stock, which takes three seconds, under a lease of one second that is
	 * not renewed. The lock is lost meanwhile, and the call fails with
	 * {@link io.github.lockspring.LockLostException}. Do not copy this method.
	 * @return the number of pieces
	 */
	@DistributedLock(name = "stocktaking", key = "'all'", ttl = "1s", renew = false)
	public int countSlowly() {
		try {
			TimeUnit.SECONDS.sleep(3);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while counting", ex);
		}
		return levels().values().stream().mapToInt(Integer::intValue).sum();
	}

	public Map<String, Integer> levels() {
		return this.shelves.levels();
	}

	/**
	 * Fills the shelves.
	 */
	public void clear() {
		this.shelves.fill();
	}

}
