package io.github.lockspring.internal.transaction;

import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockspring.internal.KeyedLock;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.ConfigurableTransactionManager;

/**
 * Adds the {@link CommitGuard} to every transaction manager of the application, once, and
 * a listener that reports open transactions to {@link TransactionUnitOfWork}. Spring Boot
 * gives listeners only to those managers that it creates itself.
 * <p>
 * Define it by a static {@code @Bean} method, as every post-processor. Managers that
 * another post-processor needed earlier have the listeners once all singletons exist.
 *
 * @since 0.1
 */
public final class TransactionListenerRegistrar
		implements BeanPostProcessor, PriorityOrdered, BeanFactoryAware, SmartInitializingSingleton {

	private final CommitGuard guard;

	private @Nullable BeanFactory beanFactory;

	/**
	 * Creates a registrar.
	 * @param verification supplies how the guard verifies, called at the first commit
	 * @param refusals receives the lock of each commit that is refused
	 */
	public TransactionListenerRegistrar(Supplier<Verification> verification, Consumer<KeyedLock> refusals) {
		this.guard = new CommitGuard(verification, refusals);
	}

	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE;
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (this.beanFactory instanceof ListableBeanFactory beans) {
			beans.getBeansOfType(ConfigurableTransactionManager.class, false, false)
				.values()
				.forEach(this::addListeners);
		}
	}

	/** Adds the listeners before a proxy may hide the manager. */
	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		addListeners(bean);
		return bean;
	}

	/** Adds the listeners to products of factory beans, which are visible only here. */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		addListeners(bean);
		return bean;
	}

	private void addListeners(Object bean) {
		if (bean instanceof ConfigurableTransactionManager manager
				&& !manager.getTransactionExecutionListeners().contains(this.guard)) {
			manager.addListener(new TransactionUnitOfWork.Tracker(manager));
			manager.addListener(this.guard);
		}
	}

}
