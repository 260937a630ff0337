package io.github.lockspring.aop;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import org.springframework.aop.Advisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;

/**
 * Looks through the proxies of a bean, one behind another.
 *
 * @since 0.1
 */
public final class ProxyChain {

	private ProxyChain() {
	}

	/**
	 * Returns all advice of a bean, that of proxies behind a proxy included.
	 * @param bean a bean
	 * @return its advisors, outermost first; none if it shows none
	 */
	public static List<Advisor> advisorsOf(Object bean) {
		return of(bean)
			.flatMap((each) -> (each instanceof Advised advised) ? Stream.of(advised.getAdvisors()) : Stream.empty())
			.toList();
	}

	/**
	 * Returns the object that a call of a bean finally reaches.
	 * @param bean a bean, or the target of one of its proxies
	 * @return the innermost object that is known without a call
	 */
	public static Object targetOf(Object bean) {
		return of(bean).reduce(bean, (outer, inner) -> inner);
	}

	/**
	 * Tells whether a bean has an advisor, as far as its proxies show theirs.
	 */
	static boolean hasAdvisor(Object bean, Advisor advisor) {
		return advisorsOf(bean).contains(advisor)
				|| of(bean).anyMatch((each) -> each instanceof SpringProxy && !(each instanceof Advised));
	}

	private static Stream<Object> of(Object bean) {
		return Stream.iterate(bean, Objects::nonNull, AopProxyUtils::getSingletonTarget);
	}

}
