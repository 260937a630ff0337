package io.github.lockspring.sample;

import java.util.List;

/**
 * An order for one piece of each of its articles.
 *
 * @param id the order's number
 * @param articles the ordered articles
 */
public record Order(String id, List<String> articles) {
}
