package io.github.lockspring.internal.aop;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * Finds the calls that a method makes on {@code this}. Follows what is on the operand
 * stack, of which it knows only whether it is {@code this}; after instructions that
 * rearrange the stack it starts anew, so it may miss a call, but reports none that is on
 * another object.
 */
final class ThisTracker extends MethodVisitor {

	private final Map<Label, List<Boolean>> atLabels = new HashMap<>();

	private final boolean hasThis;

	private final Calls calls;

	private List<Boolean> stack = new ArrayList<>();

	private int line;

	/**
	 * Creates a tracker for one method.
	 * @param hasThis whether it is an instance method
	 * @param calls is told of each call on this
	 */
	ThisTracker(boolean hasThis, Calls calls) {
		super(SpringAsmInfo.ASM_VERSION);
		this.hasThis = hasThis;
		this.calls = calls;
	}

	private void push(boolean isThis) {
		this.stack.add(isThis);
	}

	private boolean pop() {
		return !this.stack.isEmpty() && this.stack.remove(this.stack.size() - 1);
	}

	private void replace(int operands, boolean result) {
		for (int i = 0; i < operands; i++) {
			pop();
		}
		if (result) {
			push(false);
		}
	}

	private void branch(Label target) {
		this.atLabels.putIfAbsent(target, new ArrayList<>(this.stack));
	}

	@Override
	public void visitLineNumber(int number, Label start) {
		this.line = number;
	}

	@Override
	public void visitLabel(Label label) {
		List<Boolean> known = this.atLabels.get(label);
		if (known != null) {
			this.stack = new ArrayList<>(known);
		}
	}

	@Override
	public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
		this.atLabels.put(handler, List.of(false));
	}

	@Override
	public void visitInsn(int opcode) {
		if (opcode >= Opcodes.ACONST_NULL && opcode <= Opcodes.DCONST_1) {
			push(false);
		}
		else if (opcode == Opcodes.DUP) {
			boolean top = pop();
			push(top);
			push(top);
		}
		else if (opcode == Opcodes.POP || opcode == Opcodes.MONITORENTER || opcode == Opcodes.MONITOREXIT) {
			pop();
		}
		else if (isBinary(opcode)) {
			replace(2, true);
		}
		else if (opcode >= Opcodes.IASTORE && opcode <= Opcodes.SASTORE) {
			replace(3, false);
		}
		else if (!isUnary(opcode)) {
			this.stack.clear();
		}
	}

	private static boolean isBinary(int opcode) {
		return (opcode >= Opcodes.IALOAD && opcode <= Opcodes.SALOAD)
				|| (opcode >= Opcodes.IADD && opcode <= Opcodes.DREM)
				|| (opcode >= Opcodes.ISHL && opcode <= Opcodes.LXOR)
				|| (opcode >= Opcodes.LCMP && opcode <= Opcodes.DCMPG);
	}

	private static boolean isUnary(int opcode) {
		return opcode == Opcodes.NOP || (opcode >= Opcodes.INEG && opcode <= Opcodes.DNEG)
				|| (opcode >= Opcodes.I2L && opcode <= Opcodes.I2S) || opcode == Opcodes.ARRAYLENGTH;
	}

	@Override
	public void visitIntInsn(int opcode, int operand) {
		replace((opcode == Opcodes.NEWARRAY) ? 1 : 0, true);
	}

	@Override
	public void visitVarInsn(int opcode, int index) {
		if (opcode >= Opcodes.ILOAD && opcode <= Opcodes.ALOAD) {
			push(opcode == Opcodes.ALOAD && index == 0 && this.hasThis);
		}
		else {
			pop();
		}
	}

	@Override
	public void visitTypeInsn(int opcode, String type) {
		if (opcode != Opcodes.CHECKCAST) {
			replace((opcode == Opcodes.NEW) ? 0 : 1, true);
		}
	}

	@Override
	public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
		switch (opcode) {
			case Opcodes.GETSTATIC -> push(false);
			case Opcodes.PUTSTATIC -> pop();
			case Opcodes.GETFIELD -> replace(1, true);
			default -> replace(2, false);
		}
	}

	@Override
	public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
		replace(Type.getArgumentTypes(descriptor).length, false);
		// INVOKESPECIAL calls constructors, private methods and those of the superclass
		if (opcode != Opcodes.INVOKESTATIC && pop() && opcode != Opcodes.INVOKESPECIAL) {
			this.calls.add(name, descriptor, this.line);
		}
		pushResult(descriptor);
	}

	@Override
	public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
		boolean first = false;
		for (int i = Type.getArgumentTypes(descriptor).length; i > 0; i--) {
			first = pop();
		}
		for (Object argument : arguments) {
			// this::ship
			if (first && argument instanceof Handle handle && handle.getTag() != Opcodes.H_INVOKESTATIC) {
				this.calls.add(handle.getName(), handle.getDesc(), this.line);
			}
		}
		pushResult(descriptor);
	}

	private void pushResult(String descriptor) {
		if (Type.getReturnType(descriptor) != Type.VOID_TYPE) {
			push(false);
		}
	}

	@Override
	public void visitJumpInsn(int opcode, Label label) {
		if (opcode >= Opcodes.IF_ICMPEQ && opcode <= Opcodes.IF_ACMPNE) {
			replace(2, false);
		}
		else if (opcode != Opcodes.GOTO) {
			pop();
		}
		branch(label);
		if (opcode == Opcodes.GOTO) {
			this.stack.clear();
		}
	}

	@Override
	public void visitTableSwitchInsn(int min, int max, Label defaultLabel, Label... labels) {
		visitLookupSwitchInsn(defaultLabel, new int[0], labels);
	}

	@Override
	public void visitLookupSwitchInsn(Label defaultLabel, int[] keys, Label[] labels) {
		pop();
		branch(defaultLabel);
		for (Label label : labels) {
			branch(label);
		}
		this.stack.clear();
	}

	@Override
	public void visitLdcInsn(Object value) {
		push(false);
	}

	@Override
	public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
		replace(dimensions, true);
	}

	/**
	 * Is told of calls.
	 */
	@FunctionalInterface
	interface Calls {

		void add(String name, String descriptor, int line);

	}

}
