package io.github.lockspring.interceptor;

import java.lang.reflect.Method;
import java.util.List;

/**
 * Finds what is to be locked for a method. Thread-safe.
 */
public interface LockOperationSource {

	/**
	 * Whether methods of this class may have operations. Cheap for a class that has been
	 * asked about before.
	 * @param targetClass a bean's class
	 * @return false if there is certainly none
	 */
	boolean isCandidateClass(Class<?> targetClass);

	/**
	 * The operations of a method.
	 * @param method the method, of the class or of one of its interfaces
	 * @param targetClass the bean's class
	 * @return one operation for each annotation, empty if the method runs without a lock
	 * @throws io.github.lockspring.LockDefinitionException if an annotation is wrong
	 */
	List<LockOperation> getLockOperations(Method method, Class<?> targetClass);

}
