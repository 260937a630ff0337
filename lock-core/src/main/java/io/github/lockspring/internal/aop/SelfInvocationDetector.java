package io.github.lockspring.internal.aop;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Warns of calls of annotated methods that no proxy sees, because the bean calls its own
 * method or the container calls the bean without its proxy. Reads the class files of
 * annotated beans; where there is none, as in a native image, it finds nothing.
 */
final class SelfInvocationDetector {

	private static final Logger logger = LoggerFactory.getLogger(SelfInvocationDetector.class);

	/** The container calls methods with these annotations on the bean itself. */
	private static final Set<String> CALLBACKS = Set.of("jakarta.annotation.PostConstruct",
			"jakarta.annotation.PreDestroy");

	private SelfInvocationDetector() {
	}

	/**
	 * Warns of the calls that the code of a class shows.
	 * @param userClass the bean's class
	 * @param annotated its annotated methods
	 * @param methods finds out how they are annotated
	 */
	static void warn(Class<?> userClass, List<AnnotatedMethod> annotated, AnnotatedMethods<?> methods) {
		List<SelfInvocation> calls = calls(userClass);
		for (AnnotatedMethod method : annotated) {
			String places = calls.stream()
				.filter((call) -> call.calls(method.method()) && !isCovered(call, method, annotated, methods))
				.map(SelfInvocation::place)
				.distinct()
				.collect(Collectors.joining(", "));
			if (!places.isEmpty()) {
				logger.warn(
						"@{} on {}: the bean calls this method on itself, not through its proxy ({}): such a call {}."
								+ " Move one of the two methods to another bean, or {} there",
						method.model().type().getSimpleName(), method, places, method.model().consequence(),
						method.model().alternative());
			}
			if (Arrays.stream(method.method().getAnnotations())
				.anyMatch((each) -> CALLBACKS.contains(each.annotationType().getName()))) {
				logger.warn(
						"@{} on {}: the container calls this method on the bean itself, not through its proxy:"
								+ " it {}. Use @EventListener(ApplicationReadyEvent.class), or {} inside it",
						method.model().type().getSimpleName(), method, method.model().consequence(),
						method.model().alternative());
			}
		}
	}

	/**
	 * An annotation on the class covers caller and called method alike, and what its
	 * public methods call: a private method is taken for such a one.
	 */
	private static boolean isCovered(SelfInvocation call, AnnotatedMethod called, List<AnnotatedMethod> annotated,
			AnnotatedMethods<?> methods) {
		return !methods.isDirectlyAnnotated(called.method()) && (call.isByPrivateMethod() || annotated.stream()
			.anyMatch((method) -> method.method().getName().equals(call.caller())
					&& !methods.isDirectlyAnnotated(method.method())));
	}

	private static List<SelfInvocation> calls(Class<?> userClass) {
		List<SelfInvocation> calls = new ArrayList<>();
		for (Class<?> type = userClass; type != null && type != Object.class; type = type.getSuperclass()) {
			try (InputStream code = type.getResourceAsStream(ClassUtils.getClassFileName(type))) {
				if (code != null) {
					new ClassReader(code).accept(new Code(type, calls), ClassReader.SKIP_FRAMES);
				}
			}
			// RuntimeException: the class file is newer than the reader, or was rewritten
			catch (IOException | RuntimeException ex) {
				logger.debug("The code of {} cannot be read", type, ex);
			}
		}
		return calls;
	}

	/**
	 * A call of a method on {@code this}.
	 *
	 * @param type the class whose code has the call
	 * @param caller the name of the method that calls
	 * @param name the name of the method that is called
	 * @param descriptor its parameters and return type
	 * @param place where
	 */
	private record SelfInvocation(Class<?> type, String caller, String name, String descriptor, String place) {

		boolean isByPrivateMethod() {
			return Arrays.stream(ReflectionUtils.getDeclaredMethods(this.type))
				.anyMatch(
						(method) -> method.getName().equals(this.caller) && Modifier.isPrivate(method.getModifiers()));
		}

		boolean calls(Method method) {
			return this.name.equals(method.getName()) && this.descriptor.equals(Type.getMethodDescriptor(method));
		}

	}

	/** The code of a class. */
	private static final class Code extends ClassVisitor {

		private final Class<?> type;

		private final List<SelfInvocation> calls;

		Code(Class<?> type, List<SelfInvocation> calls) {
			super(SpringAsmInfo.ASM_VERSION);
			this.type = type;
			this.calls = calls;
		}

		@Override
		public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
				String[] exceptions) {
			// the body of a lambda is a method, lambda$ship$0
			String caller = name.startsWith("lambda$") ? Stream.of(name.split("\\$")).skip(1).findFirst().orElse(name)
					: name;
			return new MethodCode(caller, descriptor);
		}

		/**
		 * The code of a method. What it calls on an object of its own class, it calls on
		 * {@code this}, unless it also has another object of that class from somewhere: a
		 * parameter, a field, a result, a cast or a constructor. Of such a method nothing
		 * is reported.
		 */
		private final class MethodCode extends MethodVisitor {

			private final String caller;

			private final List<SelfInvocation> own = new ArrayList<>();

			private boolean others;

			private int line;

			MethodCode(String caller, String descriptor) {
				super(SpringAsmInfo.ASM_VERSION);
				this.caller = caller;
				this.others = descriptor.contains(Type.getDescriptor(Code.this.type));
			}

			@Override
			public void visitLineNumber(int number, Label start) {
				this.line = number;
			}

			@Override
			public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
				this.others |= descriptor.contains(Type.getDescriptor(Code.this.type));
			}

			@Override
			public void visitTypeInsn(int opcode, String type) {
				this.others |= type.equals(Type.getInternalName(Code.this.type));
			}

			@Override
			public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
				this.others |= Type.getReturnType(descriptor)
					.getDescriptor()
					.contains(Type.getDescriptor(Code.this.type));
				// INVOKESPECIAL calls the method of the superclass
				if (opcode == Opcodes.INVOKEVIRTUAL) {
					add(owner, name, descriptor);
				}
			}

			@Override
			public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
				for (Object argument : arguments) {
					// this::ship, and not Order::ship, which captures nothing
					if (argument instanceof Handle handle && handle.getTag() != Opcodes.H_INVOKESTATIC
							&& !descriptor.startsWith("()")) {
						add(handle.getOwner(), handle.getName(), handle.getDesc());
					}
				}
			}

			private void add(String owner, String name, String descriptor) {
				if (owner.equals(Type.getInternalName(Code.this.type))) {
					this.own.add(new SelfInvocation(Code.this.type, this.caller, name, descriptor,
							ClassUtils.getShortName(Code.this.type) + '.' + this.caller + ':' + this.line));
				}
			}

			@Override
			public void visitEnd() {
				if (!this.others) {
					Code.this.calls.addAll(this.own);
				}
			}

		}

	}

}
