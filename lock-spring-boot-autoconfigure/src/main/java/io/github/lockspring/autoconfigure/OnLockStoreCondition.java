package io.github.lockspring.autoconfigure;

import io.github.lockspring.autoconfigure.properties.DistributedLockProperties.Store;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Decides about {@link ConditionalOnLockStore}.
 */
class OnLockStoreCondition extends SpringBootCondition {

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		Store store = metadata.getAnnotations().get(ConditionalOnLockStore.class).getEnum("value", Store.class);
		ConditionMessage.Builder message = ConditionMessage.forCondition(ConditionalOnLockStore.class, store);
		String property = context.getEnvironment().getProperty("distributed-lock.store");
		if (property != null) {
			// the text, since a value that is no store is reported by the properties
			return new ConditionOutcome(property.trim().equalsIgnoreCase(store.name()),
					message.because("distributed-lock.store is " + property));
		}
		boolean only = LockStoreModules.select(null, context.getClassLoader()).filter(store::equals).isPresent();
		return new ConditionOutcome(only, message.because("the stores on the class path are "
				+ LockStoreModules.present(context.getClassLoader()) + ", and distributed-lock.store is not set"));
	}

}
