package io.github.lockspring.model;

/**
 * What the store and an instance know of everything else.
 */
interface Environment {

	/** A holder begins to use a fencing token. */
	void useFencingToken(int owner, int token);

	/** The store knows an owner, perhaps once more after it has lost its data. */
	void acquired(int token);

	/**
	 * @throws LimitReached if more messages are on their way than the model follows
	 */
	void publish(Message message);

	boolean isSubscribed(int token);

	void send(Command command);

	/** Whether a token is known as one whose release is on its way. */
	boolean isReleasing(int token);

	/** Whether neither the store nor a command that could bring it there has a token. */
	boolean isGone(int token);

}
