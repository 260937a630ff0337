package io.github.lockspring.lab.recipe;

import io.github.lockspring.LockLostException;
import io.github.lockspring.lab.worker.Shop;

import org.springframework.context.annotation.Bean;
import org.springframework.transaction.annotation.Transactional;

/**
 * The same, and the sale is written in a transaction: the commit guard checks the lock
 * before the commit.
 */
final class LockspringGuarded extends Lockspring {

	LockspringGuarded(Shop shop) {
		super(shop, GuardedApplication.class);
	}

	/** Writes a sale. */
	public static class Sales {

		private final Shop shop;

		Sales(Shop shop) {
			this.shop = shop;
		}

		@Transactional
		public void write(int seat) {
			this.shop.writeSale(seat);
		}

	}

	static class GuardedApplication extends Application {

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
				catch (LockLostException ex) {
					shop.refused(seat, "the commit guard rolled the transaction back. " + ex.getMessage());
				}
			};
		}

	}

}
