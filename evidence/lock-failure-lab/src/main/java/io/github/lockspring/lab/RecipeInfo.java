package io.github.lockspring.lab;

import java.util.Map;

import io.github.lockspring.lab.server.Topology;

/**
 * A recipe as the page shows it.
 *
 * @param id its name in URLs
 * @param title its title
 * @param summary a sentence on it
 * @param source where it comes from
 * @param type the simple name of its class
 * @param ours whether it is Lockspring
 * @param topology the servers it needs
 * @param properties properties of Lockspring
 * @param points the points of its course at which faults strike
 */
record RecipeInfo(String id, String title, String summary, Source source, String type, boolean ours, Topology topology,
		Map<String, String> properties, StrikePoints points) {

	String className() {
		return "io.github.lockspring.lab.recipe." + this.type;
	}

	/**
	 * Where a recipe is published.
	 *
	 * @param title the title of the article
	 * @param url its address
	 */
	record Source(String title, String url) {
	}

	/**
	 * Points in the course of a recipe.
	 *
	 * @param acquiring before the command that takes the lock
	 * @param kill where the process is killed
	 * @param releasing before the command that frees the lock
	 * @param renewing before the command that renews the lease, empty if none does
	 */
	record StrikePoints(String acquiring, String kill, String releasing, String renewing) {

		static StrikePoints of(String acquire) {
			return new StrikePoints("before " + acquire, "paying", "released", "");
		}

		StrikePoints kill(String point) {
			return new StrikePoints(this.acquiring, point, this.releasing, this.renewing);
		}

		StrikePoints releasing(String point) {
			return new StrikePoints(this.acquiring, this.kill, point, this.renewing);
		}

		StrikePoints renewing(String point) {
			return new StrikePoints(this.acquiring, this.kill, this.releasing, point);
		}

	}

}
