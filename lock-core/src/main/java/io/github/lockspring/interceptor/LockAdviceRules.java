package io.github.lockspring.interceptor;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Asks all rules about the other advice of annotated methods: of the beans that are there
 * when the application starts, and of those that are made later.
 * <p>
 * Thread-safe; each class is looked at once, unless two threads make the first bean of it
 * at the same time.
 */
final class LockAdviceRules implements BeanPostProcessor {

	private final Set<Class<?>> checked = ConcurrentHashMap.newKeySet();

	private final LockOperationSourceAdvisor lock;

	private final List<LockAdviceRule> rules;

	LockAdviceRules(LockOperationSourceAdvisor lock, List<LockAdviceRule> rules) {
		this.lock = lock;
		this.rules = Stream.concat(Stream.of(new AsyncAdviceRule(), new CacheAdviceRule()), rules.stream()).toList();
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof Advised && !(bean instanceof AopInfrastructureBean)) {
			check(bean, AopProxyUtils.ultimateTargetClass(bean));
		}
		return bean;
	}

	/**
	 * Checks the advice of a bean.
	 * @param bean the bean
	 * @param type its class
	 * @throws io.github.lockspring.LockDefinitionException if some of it defeats the lock
	 */
	void check(Object bean, Class<?> type) {
		List<Advisor> advisors = LockAdvice.allOf(bean);
		if (!advisors.contains(this.lock) || this.checked.contains(type)) {
			return;
		}
		LockOperationSource source = this.lock.rules().source();
		this.lock.rules()
			.lockedMethods(type)
			.forEach((method) -> source.getLockOperations(method, type)
				.stream()
				.findFirst()
				.map((operation) -> LockAdvice.of(operation, advisors, this.lock))
				.ifPresent((advice) -> this.rules.forEach((rule) -> rule.check(advice))));
		// Not before: one that was refused is refused again
		this.checked.add(type);
	}

}
