package io.github.lockspring.internal.aop;

import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

import org.springframework.aop.Advisor;
import org.springframework.aop.IntroductionAdvisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.core.DecoratingProxy;

/**
 * Looks through the proxies of a bean, one behind another.
 *
 * @since 0.1
 */
public final class ProxyChain {

	/** The interfaces that Spring adds to a proxy. */
	private static final Set<Class<?>> PROXY_TYPES = Set.of(SpringProxy.class, Advised.class, DecoratingProxy.class);

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
	 * Returns the classes whose annotations count for a bean: that of its innermost
	 * object and, where a proxy handles calls of an interface itself, as that of a
	 * repository does, the class of the proxy.
	 * @param bean a bean
	 * @return one class or two
	 */
	public static List<Class<?>> typesOf(Object bean) {
		Class<?> target = AopProxyUtils.ultimateTargetClass(bean);
		Class<?> type = bean.getClass();
		boolean handlesCalls = Proxy.isProxyClass(type) && Arrays.stream(type.getInterfaces())
			.anyMatch((each) -> !PROXY_TYPES.contains(each) && !each.isAssignableFrom(target)
					&& !isIntroduced(each, bean));
		return handlesCalls ? List.of(target, type) : List.of(target);
	}

	private static boolean isIntroduced(Class<?> type, Object bean) {
		return advisorsOf(bean).stream()
			.anyMatch((each) -> each instanceof IntroductionAdvisor introduction
					&& List.of(introduction.getInterfaces()).contains(type));
	}

	/**
	 * Returns whether a bean has an advisor, as far as its proxies show theirs.
	 */
	static boolean hasAdvisor(Object bean, Advisor advisor) {
		return advisorsOf(bean).contains(advisor)
				|| of(bean).anyMatch((each) -> each instanceof SpringProxy && !(each instanceof Advised));
	}

	private static Stream<Object> of(Object bean) {
		return Stream.iterate(bean, Objects::nonNull, AopProxyUtils::getSingletonTarget);
	}

}
