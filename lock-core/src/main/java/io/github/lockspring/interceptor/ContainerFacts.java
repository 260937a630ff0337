package io.github.lockspring.interceptor;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.scheduling.annotation.AsyncAnnotationBeanPostProcessor;
import org.springframework.scheduling.config.TaskManagementConfigUtils;

/**
 * What the checks want to know about the container.
 *
 * @param beanFactory the container
 */
record ContainerFacts(BeanFactory beanFactory) {

	/**
	 * Whether beans are proxied by subclasses, even those that have interfaces.
	 * @return false if that is not known
	 */
	boolean usesClassProxies() {
		return this.beanFactory.containsBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
				&& this.beanFactory.getBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME) instanceof ProxyConfig config
				&& config.isProxyTargetClass();
	}

	/**
	 * Whether {@code @Async} methods run on another thread.
	 * @return false if nothing here cares for the annotation
	 */
	boolean runsAsyncMethods() {
		return this.beanFactory.containsBean(TaskManagementConfigUtils.ASYNC_ANNOTATION_PROCESSOR_BEAN_NAME)
				|| (this.beanFactory instanceof ListableBeanFactory beans
						&& beans.getBeanNamesForType(AsyncAnnotationBeanPostProcessor.class, false, false).length > 0);
	}

	/**
	 * Whether AspectJ weaves {@code @Async} into the methods themselves.
	 * @return false where proxies do it, or nothing
	 */
	boolean weavesAsyncMethods() {
		return this.beanFactory.containsBean(TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME);
	}

	boolean hasBean(String name) {
		return this.beanFactory.containsBean(name);
	}

}
