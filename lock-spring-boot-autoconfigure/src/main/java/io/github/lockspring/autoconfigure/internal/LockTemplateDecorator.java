package io.github.lockspring.autoconfigure.internal;

import io.github.lockspring.LockTemplate;

/**
 * Decorates the auto-configured {@link LockTemplate} when it is created, which may be
 * before any ordinary bean: what a decorator needs it looks up at the first call.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface LockTemplateDecorator {

	/**
	 * Decorates the template.
	 * @param template the template
	 * @return the template to use instead; the same one if there is nothing to add
	 */
	LockTemplate decorate(LockTemplate template);

}
