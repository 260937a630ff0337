package io.github.lockspring.internal.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import io.github.lockspring.internal.aop.AnnotatedMethod;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotContribution;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
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
		hints.registerType(LockEvaluationContext.Root.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		for (String name : beanFactory.getBeanDefinitionNames()) {
			Class<?> type = beanFactory.getType(name, false);
			if (type != null) {
				contribute(advisor, ClassUtils.getUserClass(type), beanFactory, hints);
			}
		}
	}

	private static void contribute(LockOperationSourceAdvisor advisor, Class<?> type,
			ConfigurableListableBeanFactory beanFactory, ReflectionHints hints) {
		for (AnnotatedMethod method : advisor.methods().in(type)) {
			hints.registerMethod(method.method(), ExecutableMode.INVOKE);
			LockedMethod locked = advisor.methods().get(method.method(), type);
			if (locked != null) {
				contribute(locked, type, beanFactory, hints);
			}
		}
	}

	private static void contribute(LockedMethod locked, Class<?> type, ConfigurableListableBeanFactory beanFactory,
			ReflectionHints hints) {
		ExpressionTypes types = new ExpressionTypes(locked.operation(), type, locked.contexts().positions(),
				beanFactory, hints);
		locked.key().expressions().forEach((expression) -> types.visit(expression.getAST(), ResolvableType.NONE));
	}

	/**
	 * Follows an expression from the parameters, beans and classes that it names, along
	 * the declared types, and registers each of these types.
	 */
	private record ExpressionTypes(LockOperation operation, Class<?> targetClass, Map<String, Integer> positions,
			ConfigurableListableBeanFactory beanFactory, ReflectionHints hints) {

		/**
		 * Visits a node and what is below it.
		 * @param node the node
		 * @param context the type that a bare name belongs to, and {@code #this}
		 * @return the type of the node's value, or {@link ResolvableType#NONE} if it is
		 * not known
		 */
		ResolvableType visit(SpelNode node, ResolvableType context) {
			if (node instanceof CompoundExpression) {
				ResolvableType type = visit(node.getChild(0), context);
				for (int i = 1; i < node.getChildCount(); i++) {
					type = registered(next(type, node.getChild(i), context));
				}
				return type;
			}
			if (node instanceof VariableReference variable) {
				return registered(variable(variable.toStringAST().substring(1), context));
			}
			if (node instanceof BeanReference bean) {
				return registered(bean(bean.getName()));
			}
			if (node instanceof TypeReference type) {
				return registered(type(type.toStringAST()));
			}
			if (node instanceof PropertyOrFieldReference || node instanceof MethodReference) {
				return registered(next(context, node, context));
			}
			visitChildren(node, context);
			return ResolvableType.NONE;
		}

		private void visitChildren(SpelNode node, ResolvableType context) {
			for (int i = 0; i < node.getChildCount(); i++) {
				visit(node.getChild(i), context);
			}
		}

		private ResolvableType variable(String name, ResolvableType context) {
			if (name.equals("root")) {
				return ResolvableType.forClass(LockEvaluationContext.Root.class);
			}
			Integer position = this.positions.get(name);
			return (name.equals("this") || position == null) ? context
					: ResolvableType.forMethodParameter(this.operation.method(), position, this.targetClass);
		}

		private ResolvableType bean(String name) {
			try {
				return ResolvableType.forClass(this.beanFactory.getType(name, false));
			}
			catch (BeansException ex) {
				return ResolvableType.NONE;
			}
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

		/** The type of what follows a value: a property, a method, an index and so on. */
		private ResolvableType next(ResolvableType type, SpelNode node, ResolvableType context) {
			if (node instanceof PropertyOrFieldReference property) {
				return property(type, property.getName());
			}
			if (node instanceof Projection) {
				ResolvableType element = visit(node.getChild(0), element(type));
				return (element != ResolvableType.NONE) ? ResolvableType.forClassWithGenerics(Collection.class, element)
						: ResolvableType.NONE;
			}
			if (node instanceof Selection) {
				visit(node.getChild(0), element(type));
				return type;
			}
			visitChildren(node, context);
			if (node instanceof Indexer) {
				return element(type);
			}
			return (node instanceof MethodReference method) ? result(type, method.getName(), method.getChildCount())
					: ResolvableType.NONE;
		}

		private ResolvableType property(ResolvableType type, String name) {
			if (type.toClass() == LockEvaluationContext.Root.class && name.equals("target")) {
				return ResolvableType.forClass(this.targetClass);
			}
			ResolvableType read = LockExpressionValidator.PROPERTIES.read(type, name);
			return (read != null) ? read : ResolvableType.NONE;
		}

		private static ResolvableType element(ResolvableType type) {
			if (type.isArray()) {
				return type.getComponentType();
			}
			ResolvableType map = type.asMap();
			return (map != ResolvableType.NONE) ? map.getGeneric(1) : type.as(Iterable.class).getGeneric(0);
		}

		private static ResolvableType result(ResolvableType type, String name, int arguments) {
			List<Method> methods = Arrays.stream(type.toClass().getMethods())
				.filter((each) -> each.getName().equals(name) && each.getParameterCount() == arguments
						&& !each.isBridge())
				.toList();
			// of overloaded methods which one is called is known later
			return (methods.size() != 1) ? ResolvableType.NONE : ResolvableType
				.forType(methods.get(0).getGenericReturnType(), type.as(methods.get(0).getDeclaringClass()));
		}

		private ResolvableType registered(ResolvableType type) {
			Class<?> raw = ClassUtils.getUserClass(type.toClass());
			if (raw != Object.class && !raw.isPrimitive()) {
				this.hints.registerType(raw, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.ACCESS_PUBLIC_FIELDS);
			}
			return type;
		}

	}

}
