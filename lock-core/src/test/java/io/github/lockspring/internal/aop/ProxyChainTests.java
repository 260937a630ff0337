package io.github.lockspring.internal.aop;

import java.util.List;

import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultIntroductionAdvisor;
import org.springframework.aop.support.DelegatingIntroductionInterceptor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which classes count for a bean behind proxies.
 */
class ProxyChainTests {

	private static ProxyFactory proxy(Class<?>... interfaces) {
		ProxyFactory factory = new ProxyFactory();
		factory.setInterfaces(interfaces);
		factory.setTarget(new Orders());
		return factory;
	}

	@Test
	void proxyThatHandlesCallsItselfCounts() {
		ProxyFactory factory = proxy(Shop.class, Named.class);
		factory.addAdvice((MethodInterceptor) (invocation) -> "handled");
		Object bean = factory.getProxy();
		assertThat(ProxyChain.typesOf(bean)).isEqualTo(List.of(Orders.class, bean.getClass()));
	}

	@Test
	void interfaceThatAnAdvisorIntroducesDoesNotMakeItCount() {
		ProxyFactory factory = proxy(Shop.class);
		factory.addAdvisor(new DefaultIntroductionAdvisor(new Names(), Named.class));
		Object bean = factory.getProxy();
		assertThat(bean).isInstanceOf(Named.class);
		assertThat(ProxyChain.typesOf(bean)).isEqualTo(List.of(Orders.class));
	}

	interface Shop {

		void ship();

	}

	interface Named {

		String name();

	}

	static class Orders implements Shop {

		@Override
		public void ship() {
		}

	}

	static class Names extends DelegatingIntroductionInterceptor implements Named {

		@Override
		public String name() {
			return "orders";
		}

	}

}
