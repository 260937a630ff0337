package io.github.lockspring.internal.interceptor;

import java.lang.reflect.Member;
import java.lang.reflect.ParameterizedType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotContribution;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.ClassUtils;

/**
 * Finds, when an application is built ahead of time, what its locks use by reflection:
 * the annotated methods, and the types whose properties and methods their keys read.
 * <p>
 * Only declared types are known: of a parameter whose type is an interface, the members
 * of the interface.
 */
final class LockHintsAotProcessor implements BeanFactoryInitializationAotProcessor {

	@Override
	public @Nullable BeanFactoryInitializationAotContribution processAheadOfTime(
			ConfigurableListableBeanFactory beanFactory) {
		return beanFactory.getBeanProvider(LockOperationSourceAdvisor.class)
			.stream()
			.findFirst()
			.<BeanFactoryInitializationAotContribution>map((advisor) -> (generation,
					initialization) -> contribute(advisor, beanFactory, generation.getRuntimeHints().reflection()))
			.orElse(null);
	}

	private static void contribute(LockOperationSourceAdvisor advisor, ConfigurableListableBeanFactory beanFactory,
			ReflectionHints hints) {
		hints.registerType(LockKeyExpression.Root.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		for (String name : beanFactory.getBeanDefinitionNames()) {
			Class<?> type = beanFactory.getType(name, false);
			if (type != null) {
				contribute(advisor, ClassUtils.getUserClass(type), beanFactory, hints);
			}
		}
	}

	private static void contribute(LockOperationSourceAdvisor advisor, Class<?> type,
			ConfigurableListableBeanFactory beanFactory, ReflectionHints hints) {
		for (LockedMethod method : advisor.methods().readIn(type)) {
			hints.registerMethod(method.operation().method(), ExecutableMode.INVOKE);
			method.key().expressions().forEach((expression) -> {
				ExpressionTypes types = new ExpressionTypes(method, type, beanFactory, hints, new HashSet<>(),
						new HashSet<>());
				types.visit(expression.getAST()).forEach(types::register);
			});
		}
	}

	/**
	 * The types that an expression reads: those of the parameters, beans and classes that
	 * it names, and, behind these, of all members with a name that occurs in it.
	 */
	private record ExpressionTypes(LockedMethod locked, Class<?> targetClass,
			ConfigurableListableBeanFactory beanFactory, ReflectionHints hints, Set<String> names,
			Set<Class<?>> registered) {

		/** Collects the names below a node, and returns the types of its variables. */
		List<ResolvableType> visit(SpelNode node) {
			List<ResolvableType> types = new ArrayList<>();
			if (node instanceof VariableReference variable) {
				types.add(variable(variable.toStringAST().substring(1)));
			}
			else if (node instanceof BeanReference bean && this.beanFactory.containsBean(bean.getName())) {
				types.add(ResolvableType.forClass(this.beanFactory.getType(bean.getName(), false)));
			}
			else if (node instanceof TypeReference type) {
				types.add(type(type.toStringAST()));
			}
			else if (node instanceof PropertyOrFieldReference property) {
				this.names.add(property.getName());
			}
			else if (node instanceof MethodReference method) {
				this.names.add(method.getName());
			}
			for (int i = 0; i < node.getChildCount(); i++) {
				types.addAll(visit(node.getChild(i)));
			}
			return types;
		}

		private ResolvableType variable(String name) {
			Integer position = this.locked.key().positions().get(name);
			if (position == null) {
				return name.equals("root") ? ResolvableType.forClass(this.targetClass) : ResolvableType.NONE;
			}
			return ResolvableType.forMethodParameter(this.locked.operation().method(), position, this.targetClass);
		}

		/** {@code T(java.util.Locale)}, perhaps with brackets for an array. */
		private ResolvableType type(String reference) {
			try {
				return ResolvableType.forClass(new StandardTypeLocator(this.beanFactory.getBeanClassLoader())
					.findType(reference.replaceAll("^T\\(|[\\[\\])]+$", "")));
			}
			catch (RuntimeException ex) {
				// found, or not, by the start of the application
				return ResolvableType.NONE;
			}
		}

		void register(ResolvableType type) {
			if (type.isArray()) {
				register(type.getComponentType());
				return;
			}
			if (type.getType() instanceof ParameterizedType) {
				Stream.of(type.getGenerics()).forEach(this::register);
			}
			Class<?> raw = ClassUtils.getUserClass(type.toClass());
			if (raw == Object.class || raw.isPrimitive() || !this.registered.add(raw)) {
				return;
			}
			this.hints.registerType(raw, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.ACCESS_PUBLIC_FIELDS);
			Stream.of(raw.getMethods())
				.filter(this::isRead)
				.forEach((method) -> register(ResolvableType.forMethodReturnType(method, raw)));
			Stream.of(raw.getFields())
				.filter(this::isRead)
				.forEach((field) -> register(ResolvableType.forField(field, raw)));
		}

		private boolean isRead(Member member) {
			return this.names.stream().anyMatch((name) -> LockExpressionValidator.isProperty(member, name));
		}

	}

}
