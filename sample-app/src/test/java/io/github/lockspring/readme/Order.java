package io.github.lockspring.readme;

import java.util.List;

/**
 * An order.
 *
 * @param id its number
 * @param articles what is ordered
 */
public record Order(long id, List<String> articles) {
}
