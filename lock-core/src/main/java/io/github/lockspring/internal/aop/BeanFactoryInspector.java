package io.github.lockspring.internal.aop;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.scheduling.annotation.AsyncAnnotationBeanPostProcessor;
import org.springframework.scheduling.config.TaskManagementConfigUtils;

/**
 * Inspects a bean factory for the infrastructure that decides how a method is called.
 *
 * @param beanFactory the bean factory
 * @since 0.1
 */
public record BeanFactoryInspector(BeanFactory beanFactory) {

	/**
	 * Returns whether beans are proxied by subclasses even if they have interfaces.
	 * @return whether the auto-proxy creator is configured for that
	 */
	public boolean usesClassProxies() {
		return this.beanFactory.containsBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
				&& this.beanFactory.getBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME) instanceof ProxyConfig config
				&& config.isProxyTargetClass();
	}

	/**
	 * Returns whether {@code @Async} methods run on another thread.
	 * @return whether the annotation is enabled
	 */
	public boolean runsAsyncMethods() {
		return this.beanFactory.containsBean(TaskManagementConfigUtils.ASYNC_ANNOTATION_PROCESSOR_BEAN_NAME)
				|| (this.beanFactory instanceof ListableBeanFactory beans
						&& beans.getBeanNamesForType(AsyncAnnotationBeanPostProcessor.class, false, false).length > 0);
	}

	/**
	 * Returns whether AspectJ weaves {@code @Async} into the methods themselves.
	 * @return whether the annotation is enabled with AspectJ
	 */
	public boolean weavesAsyncMethods() {
		return this.beanFactory.containsBean(TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME);
	}

}
