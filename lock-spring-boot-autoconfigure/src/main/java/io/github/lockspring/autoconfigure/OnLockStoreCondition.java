package io.github.lockspring.autoconfigure;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Binder;
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
		BindResult<Store> property = Binder.get(context.getEnvironment()).bind("distributed-lock.store", Store.class);
		if (property.isBound()) {
			return new ConditionOutcome(property.get() == store,
					message.because("distributed-lock.store is " + property.get()));
		}
		boolean only = LockStoreModules.select(null, context.getClassLoader()).filter(store::equals).isPresent();
		return new ConditionOutcome(only, message.because("the stores on the class path are "
				+ LockStoreModules.present(context.getClassLoader()) + ", and distributed-lock.store is not set"));
	}

}
