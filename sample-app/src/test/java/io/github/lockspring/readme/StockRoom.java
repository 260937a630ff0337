package io.github.lockspring.readme;

import java.util.List;

import io.github.lockspring.DistributedLock;

import org.springframework.stereotype.Service;

/**
 * Locks articles, in the transaction of the caller if there is one.
 */
@Service
public class StockRoom {

	@DistributedLock(name = "stock", key = "#articles")
	public void take(List<String> articles) {
		// holds stock:tea and stock:cup for the articles tea and cup
	}

}
