package io.github.lockspring.sample;

import java.util.List;

/**
 * An order: one piece of each of its articles.
 *
 * @param id the order's number
 * @param articles what is ordered
 */
public record Order(String id, List<String> articles) {
}
