package io.github.lockspring.internal.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultIntroductionAdvisor;
import org.springframework.aop.support.DelegatingIntroductionInterceptor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ProxyChain}.
 */
class ProxyChainTests {

	private final ProxyFactory factory = new ProxyFactory(new ArrayList<>());

	@Test
	void proxyThatHandlesCallsItselfCounts() {
		this.factory.addInterface(Callable.class);
		Object bean = this.factory.getProxy();
		assertThat(ProxyChain.typesOf(bean)).isEqualTo(List.of(ArrayList.class, bean.getClass()));
	}

	@Test
	void interfaceThatAnAdvisorIntroducesDoesNotMakeItCount() {
		Callable<String> introduced = () -> "";
		this.factory.addAdvisor(
				new DefaultIntroductionAdvisor(new DelegatingIntroductionInterceptor(introduced), Callable.class));
		assertThat(this.factory.getProxy()).isInstanceOf(Callable.class);
		assertThat(ProxyChain.typesOf(this.factory.getProxy())).isEqualTo(List.of(ArrayList.class));
	}

}
