package io.github.lockspring.internal.interceptor;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.github.lockspring.internal.aop.ProxyChain;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Applies all rules to annotated methods and their advice: of the beans that exist when
 * the application has started, and of those that are created later.
 * <p>
 * Thread-safe; each class is validated once, unless two threads create its first bean at
 * the same time.
 */
final class LockedMethodValidator implements BeanPostProcessor {

	private final Set<Class<?>> validated = ConcurrentHashMap.newKeySet();

	private final LockOperationSourceAdvisor lock;

	private final List<LockedMethodRule> rules;

	LockedMethodValidator(LockOperationSourceAdvisor lock, List<LockedMethodRule> rules) {
		this.lock = lock;
		this.rules = Stream.concat(Stream.of(new AsyncOrderRule()), rules.stream()).toList();
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof Advised && !(bean instanceof AopInfrastructureBean)) {
			ProxyChain.typesOf(bean).forEach((type) -> validate(bean, type));
		}
		return bean;
	}

	/**
	 * Validates the annotated methods of a bean.
	 * @param bean the bean
	 * @param type its class, or one of two
	 * @throws io.github.lockspring.LockDefinitionException if something defeats a lock
	 */
	void validate(Object bean, Class<?> type) {
		List<Advisor> advisors = ProxyChain.advisorsOf(bean);
		if (!advisors.contains(this.lock) || this.validated.contains(type)) {
			return;
		}
		for (LockOperation operation : this.lock.operations(type)) {
			AdvisorChain chain = AdvisorChain.of(operation, advisors, this.lock);
			this.rules.forEach((rule) -> rule.validate(chain));
		}
		// Not before: a class that was refused is refused again
		this.validated.add(type);
	}

}
