package io.github.lockspring.sample;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.annotation.DistributedLock;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Service;

/**
 * Counts what is in stock by reading a number, thinking, and writing another: the kind of
 * code that loses updates when it runs twice at once.
 */
@Service
public class StockService {

	static final List<String> ARTICLES = List.of("cup", "honey", "tea");

	private static final int FULL = 1000;

	private final StringRedisTemplate redis;

	private final LockTemplate locks;

	StockService(StringRedisTemplate redis, LockTemplate locks) {
		this.redis = redis;
		this.locks = locks;
	}

	/**
	 * Takes one piece of each article. A key that is a collection locks all its elements,
	 * always in the same order, so that two orders never wait for each other in a circle.
	 * @param articles the articles
	 */
	@DistributedLock(name = "stock", key = "#articles")
	public void take(List<String> articles) {
		articles.forEach(this::takeOne);
	}

	/**
	 * Sells one piece. The same lock as above, taken by the program.
	 * @param article the article
	 * @return the pieces left
	 */
	public int sell(String article) {
		return this.locks.execute(LockRequest.of("stock:" + article), (lock) -> takeOne(article));
	}

	/**
	 * Sells one piece without any lock, to show what happens then.
	 * @param article the article
	 * @return the pieces left
	 */
	public int sellWithoutLock(String article) {
		return takeOne(article);
	}

	/**
	 * Counts everything, which takes three seconds, under a lease of one second that is
	 * not renewed. The lock is lost on the way, and the caller is told so with
	 * {@link io.github.lockspring.LockLostException}: do not do this at home.
	 * @return the number of pieces
	 */
	@DistributedLock(key = "'stocktaking'", ttl = "1s")
	public int countSlowly() {
		pause(3000);
		return levels().values().stream().mapToInt(Integer::intValue).sum();
	}

	public Map<String, Integer> levels() {
		Map<String, Integer> levels = new TreeMap<>();
		ARTICLES.forEach((article) -> levels.put(article, level(article)));
		return levels;
	}

	/**
	 * Fills the shelves.
	 */
	public void clear() {
		this.redis.delete(ARTICLES.stream().map(StockService::redisKey).toList());
	}

	private int takeOne(String article) {
		int level = level(article);
		pause(10);
		this.redis.opsForValue().set(redisKey(article), String.valueOf(level - 1));
		return level - 1;
	}

	private int level(String article) {
		String level = this.redis.opsForValue().get(redisKey(article));
		return (level != null) ? Integer.parseInt(level) : FULL;
	}

	private static String redisKey(String article) {
		return "shop:stock:" + article;
	}

	private static void pause(int millis) {
		try {
			TimeUnit.MILLISECONDS.sleep(millis);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while counting", ex);
		}
	}

}
