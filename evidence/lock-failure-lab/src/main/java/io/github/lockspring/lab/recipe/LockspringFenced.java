package io.github.lockspring.lab.recipe;

import io.github.lockspring.Fenced;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.lab.worker.Shop;

import org.springframework.context.annotation.Bean;
import org.springframework.transaction.annotation.Transactional;

/**
 * The same, and the database compares fencing tokens when the sale is written. The commit
 * guard is off, to show the effect of fencing alone.
 */
final class LockspringFenced extends Lockspring {

	LockspringFenced(Shop shop) {
		super(shop, FencedApplication.class);
	}

	/** Writes a sale. */
	public static class Sales {

		private final Shop shop;

		Sales(Shop shop) {
			this.shop = shop;
		}

		@Transactional
		@Fenced
		public void write(int seat) {
			this.shop.writeSale(seat);
		}

	}

	static class FencedApplication extends Application {

		@Bean
		Sales sales(Shop shop) {
			return new Sales(shop);
		}

		@Bean
		Writer writer(Shop shop, Sales sales) {
			return (seat) -> {
				try {
					sales.write(seat);
				}
				catch (StaleFencingTokenException ex) {
					shop.refused(seat, "the database has seen a later token. " + ex.getMessage());
				}
			};
		}

	}

}
