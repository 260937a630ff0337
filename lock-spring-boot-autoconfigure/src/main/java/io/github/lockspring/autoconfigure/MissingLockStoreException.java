package io.github.lockspring.autoconfigure;

import java.util.Arrays;

import io.github.lockspring.store.LockStore;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Locks are wanted, and there is no {@link LockStore}. Stops the application's start.
 */
class MissingLockStoreException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private static final String CONNECTION_FACTORY = "org.springframework.data.redis.connection.RedisConnectionFactory";

	private static final String OTHER_WAYS = " Or choose distributed-lock.store=memory, for tests and applications with one"
			+ " instance; or define a LockStore bean; or switch locks off with distributed-lock.enabled=false.";

	private final String problem;

	private final String remedy;

	private MissingLockStoreException(String problem, String remedy) {
		super("There is no store for locks: %s. %s".formatted(problem, remedy));
		this.problem = problem;
		this.remedy = remedy;
	}

	/**
	 * Creates the exception, with what is missing and what to do.
	 * @param beanFactory the bean factory that has no {@link LockStore}
	 * @param store the kind of store that was wanted
	 * @return the exception to throw
	 */
	static MissingLockStoreException explaining(ConfigurableListableBeanFactory beanFactory,
			DistributedLockProperties.Store store) {
		ClassLoader classLoader = beanFactory.getBeanClassLoader();
		if (!ClassUtils.isPresent(CONNECTION_FACTORY, classLoader)) {
			return new MissingLockStoreException("Spring Data Redis is not on the class path",
					"Add the dependency org.springframework.boot:spring-boot-starter-data-redis." + OTHER_WAYS);
		}
		if (store == DistributedLockProperties.Store.REDLOCK) {
			return leftOut("RedlockLockStoreAutoConfiguration");
		}
		String[] factories = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory,
				ClassUtils.resolveClassName(CONNECTION_FACTORY, classLoader), true, false);
		if (factories.length == 0) {
			return new MissingLockStoreException("there is no RedisConnectionFactory bean",
					"Define one, or let DataRedisAutoConfiguration do it, which needs Lettuce or Jedis on the class path."
							+ OTHER_WAYS);
		}
		if (factories.length > 1) {
			return new MissingLockStoreException(
					"there are several RedisConnectionFactory beans and none of them is primary: "
							+ String.join(", ", Arrays.stream(factories).sorted().toList()),
					"Mark the one for the locks with @Primary, or make a LockStore bean from it with"
							+ " RedisLockStore.create." + OTHER_WAYS);
		}
		return leftOut("RedisLockStoreAutoConfiguration");
	}

	private static MissingLockStoreException leftOut(String autoConfiguration) {
		return new MissingLockStoreException(
				"the auto-configuration " + autoConfiguration + " was left out of this application",
				"Do not exclude it." + OTHER_WAYS);
	}

	String getProblem() {
		return this.problem;
	}

	String getRemedy() {
		return this.remedy;
	}

}
