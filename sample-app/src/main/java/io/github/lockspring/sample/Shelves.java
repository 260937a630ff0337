package io.github.lockspring.sample;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/**
 * Keeps the stock in the database. Taking a piece reads a number, pauses, and writes a
 * smaller number: code that loses updates when it runs twice at the same time.
 */
@Repository
class Shelves {

	static final List<String> ARTICLES = List.of("cup", "honey", "tea");

	private static final int FULL = 1000;

	private final JdbcTemplate jdbc;

	Shelves(JdbcTemplate jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Takes one piece. The caller excludes concurrent calls for the same article.
	 * @param article the article
	 * @return the pieces left
	 */
	int takeOne(String article) {
		int left = level(article) - 1;
		pause();
		this.jdbc.update("MERGE INTO stock (article, pieces) VALUES (?, ?)", article, left);
		return left;
	}

	Map<String, Integer> levels() {
		Map<String, Integer> levels = new TreeMap<>();
		ARTICLES.forEach((article) -> levels.put(article, level(article)));
		return levels;
	}

	void fill() {
		this.jdbc.update("DELETE FROM stock");
	}

	private int level(String article) {
		return this.jdbc.queryForList("SELECT pieces FROM stock WHERE article = ?", Integer.class, article)
			.stream()
			.findFirst()
			.orElse(FULL);
	}

	private static void pause() {
		try {
			TimeUnit.MILLISECONDS.sleep(10);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while thinking", ex);
		}
	}

}
