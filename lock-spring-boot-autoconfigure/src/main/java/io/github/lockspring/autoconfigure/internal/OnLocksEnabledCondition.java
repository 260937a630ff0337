package io.github.lockspring.autoconfigure.internal;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Decides about {@link ConditionalOnLocksEnabled}.
 */
class OnLocksEnabledCondition extends SpringBootCondition {

	/** The type of the property, since a Boolean is converted differently. */
	private static final Bindable<Boolean> FLAG = Bindable.of(boolean.class);

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		boolean enabled = Binder.get(context.getEnvironment()).bind("distributed-lock.enabled", FLAG).orElse(true);
		boolean wanted = metadata.getAnnotations().get(ConditionalOnLocksEnabled.class).getBoolean("value");
		return new ConditionOutcome(enabled == wanted, ConditionMessage.forCondition(ConditionalOnLocksEnabled.class)
			.because("distributed-lock.enabled is " + enabled));
	}

}
