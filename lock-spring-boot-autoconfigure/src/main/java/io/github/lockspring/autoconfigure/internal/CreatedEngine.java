package io.github.lockspring.autoconfigure.internal;

import java.util.Arrays;
import java.util.Optional;

import io.github.lockspring.internal.engine.LockEngine;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Finds the engine if the application has used it. Never creates it: an application that
 * does not lock needs no store.
 *
 * @param beanFactory where the engine is
 */
public record CreatedEngine(ConfigurableListableBeanFactory beanFactory) {

	/**
	 * Returns the engine.
	 * @return empty as long as the application has requested no lock
	 */
	public Optional<LockEngine> find() {
		return Arrays.stream(this.beanFactory.getBeanNamesForType(LockEngine.class, false, false))
			.filter(this.beanFactory::containsSingleton)
			.map((name) -> this.beanFactory.getBean(name, LockEngine.class))
			.filter(LockEngine::isUsed)
			.findFirst();
	}

}
