package io.github.lockspring.interceptor;

/**
 * Finds other advice of an annotated method that, where it stands, defeats the lock.
 * Every bean of this type is asked once for each method, when its bean is there.
 */
@FunctionalInterface
public interface LockAdviceRule {

	/**
	 * Looks at a method. What is dangerous is refused, what is only unwise is logged,
	 * both with a remedy.
	 * @param advice the method's advice
	 * @throws io.github.lockspring.LockDefinitionException if it defeats the lock
	 */
	void check(LockAdvice advice);

}
