package io.github.lockspring.internal.interceptor;

/**
 * Finds other advice of an annotated method whose position defeats the lock. Every bean
 * of this type is called once for each method, when its bean has been created.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface AdvisorOrderRule {

	/**
	 * Checks a method. Refuses what is dangerous and logs what is only unwise, both with
	 * a remedy.
	 * @param chain the method's advice
	 * @throws io.github.lockspring.LockDefinitionException if it defeats the lock
	 */
	void validate(AdvisorChain chain);

}
