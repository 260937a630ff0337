package io.github.lockspring.internal.interceptor;

/**
 * Finds what defeats the lock of an annotated method: the position of other advice, or a
 * lease that the store cannot give. Every bean of this type is called once for each
 * method, when its bean has been created.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface LockedMethodRule {

	/**
	 * Checks a method. Refuses what is dangerous and logs what is only unwise, both with
	 * a remedy.
	 * @param chain the method and its advice
	 * @throws io.github.lockspring.LockDefinitionException if something defeats the lock
	 */
	void validate(AdvisorChain chain);

}
