package io.github.lockspring.transaction;

import java.util.function.Supplier;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;

/**
 * Adds the {@link CommitGuard} to every transaction manager of the application, once.
 * Spring Boot gives listeners only to those managers that it makes itself.
 * <p>
 * To be defined by a static {@code @Bean} method, as every post-processor.
 */
public final class CommitGuardRegistrar implements BeanPostProcessor {

	private final CommitGuard guard;

	/**
	 * Creates a registrar.
	 * @param settings gives the guard's settings, asked at the first commit
	 */
	public CommitGuardRegistrar(Supplier<CommitGuard.Settings> settings) {
		this.guard = new CommitGuard(settings);
	}

	/** Before a proxy may hide the manager. */
	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		guard(bean);
		return bean;
	}

	/** What factory beans make comes along only here. */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		guard(bean);
		return bean;
	}

	private void guard(Object bean) {
		if (bean instanceof ConfigurableTransactionManager manager
				&& !manager.getTransactionExecutionListeners().contains(this.guard)) {
			manager.addListener(this.guard);
		}
	}

}
