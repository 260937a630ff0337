package io.github.lockspring.readme;

import org.springframework.stereotype.Component;

/**
 * Works while a lock is held.
 */
@Component
public class LabelPrinter {

	void print(long id) {
		// prints the label of the order
	}

}
