package io.github.lockspring.model;

/**
 * One event, to one instance or one command.
 *
 * @param event what happens
 * @param index of the instance, or of the command on its way
 */
record Step(Event event, int index) {

	private static final int MAX_INDEX = 16;

	short encode() {
		return (short) (this.event.ordinal() * MAX_INDEX + this.index);
	}

	static Step decode(short code) {
		return new Step(Event.ALL[code / MAX_INDEX], code % MAX_INDEX);
	}

	/** Says what is about to happen in a state. */
	String describe(World world) {
		return this.event.scope().describe(world, this.index) + this.event.text();
	}

}
