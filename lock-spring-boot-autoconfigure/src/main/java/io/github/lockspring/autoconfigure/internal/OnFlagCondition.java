package io.github.lockspring.autoconfigure.internal;

import java.util.List;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Decides about {@link ConditionalOnFlag}.
 */
class OnFlagCondition extends SpringBootCondition {

	/*
	 * The type of the properties' components, since a Boolean is converted differently.
	 */
	private static final Bindable<Boolean> FLAG = Bindable.of(boolean.class);

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		Binder binder = Binder.get(context.getEnvironment());
		List<MergedAnnotation<ConditionalOnFlag>> flags = metadata.getAnnotations()
			.stream(ConditionalOnFlag.class)
			.toList();
		for (MergedAnnotation<ConditionalOnFlag> flag : flags) {
			String name = flag.getString("name");
			boolean value = binder.bind(name, FLAG).orElse(flag.getBoolean("byDefault"));
			if (value != flag.getBoolean("havingValue")) {
				return ConditionOutcome
					.noMatch(ConditionMessage.forCondition(ConditionalOnFlag.class).because(name + " is " + value));
			}
		}
		return ConditionOutcome
			.match(ConditionMessage.forCondition(ConditionalOnFlag.class).because("the value is the wanted one"));
	}

}
