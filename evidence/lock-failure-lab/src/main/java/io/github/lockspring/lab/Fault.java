package io.github.lockspring.lab;

/**
 * A fault that strikes a run. It is made for real, always at the same point of the sale.
 *
 * @param id its name in URLs
 * @param title its title
 * @param summary a sentence on it
 * @param notApplicable why it has no cell with some recipes
 * @param script makes it
 */
record Fault(String id, String title, String summary, String notApplicable, Script script) {

	/**
	 * Makes a fault.
	 */
	@FunctionalInterface
	interface Script {

		/**
		 * Plays it.
		 * @param stage the shops and servers
		 * @throws InterruptedException if the run is cancelled
		 */
		void play(Stage stage) throws InterruptedException;

	}

}
