package io.github.lockspring.internal.engine;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionResult;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.kotlinx.lincheck.util.ExceptionResult;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.verifier.Verifier;
import org.slf4j.LoggerFactory;

/**
 * How Lincheck is asked. The models say by themselves what is wrong, by an exception in
 * an operation or in their validation; a deadlock is an error too.
 */
final class Interleavings {

	/** {@code -Dlincheck.factor=20} looks at twenty times as many interleavings. */
	static final int FACTOR = Integer.getInteger("lincheck.factor", 1);

	static {
		// thousands of leases are lost here
		((Logger) LoggerFactory.getLogger("io.github.lockspring")).setLevel(Level.OFF);
	}

	private Interleavings() {
	}

	/**
	 * Lets threads carry out operations of a model in different orders: one switch
	 * between them at every possible place, then two, and so on.
	 * @param model the model's class
	 * @param runs how many orders are tried
	 * @param threads for each thread its operations, separated by commas
	 */
	static void modelCheck(Class<?> model, int runs, String... threads) {
		options(runs).iterations(0).addCustomScenario(scenario(model, threads)).check(model);
	}

	/**
	 * Lets threads carry out operations of a model side by side.
	 */
	static void stress(Class<?> model, int runs, String... threads) {
		new StressOptions().iterations(0)
			.invocationsPerIteration(runs * FACTOR)
			.verifier(NoExceptions.class)
			.addCustomScenario(scenario(model, threads))
			.check(model);
	}

	static ModelCheckingOptions options(int runs) {
		return new ModelCheckingOptions().invocationsPerIteration(runs * FACTOR)
			.verifier(NoExceptions.class)
			.actorsBefore(0)
			.actorsAfter(0)
			.minimizeFailedScenario(false)
			.addGuarantee(ManagedStrategyGuaranteeKt.forClasses(Interleavings::isBesideThePoint).allMethods().ignore())
			.addGuarantee(ManagedStrategyGuaranteeKt.forClasses(Interleavings::isCorrect).allMethods().treatAsAtomic());
	}

	private static boolean isBesideThePoint(String name) {
		return name.startsWith("java.security.") || name.startsWith("sun.security.") || name.startsWith("org.slf4j.")
				|| name.startsWith("ch.qos.logback.") || name.startsWith("java.time.")
				|| name.equals("java.util.concurrent.ThreadLocalRandom") || name.startsWith("java.util.Base64")
				|| name.startsWith("io.github.lockspring.store.")
				|| name.equals("io.github.lockspring.internal.engine.support.EngineThreads")
				|| name.startsWith("io.github.lockspring.LockRequest")
				|| name.startsWith("io.github.lockspring.LockSpec") || name.startsWith("io.github.lockspring.LockEvent")
				|| name.equals(LockMessages.class.getName()) || name.equals(LockParameters.class.getName());
	}

	private static boolean isCorrect(String name) {
		return name.startsWith("java.util.concurrent.Concurrent") || name.startsWith("java.util.concurrent.atomic.")
				|| name.startsWith("java.util.Array") || name.startsWith("java.util.HashMap")
				|| name.startsWith(ModelStore.class.getName()) || name.startsWith(ScriptedStore.class.getName());
	}

	private static ExecutionScenario scenario(Class<?> model, String... threads) {
		List<List<Actor>> parallel = new ArrayList<>();
		for (String operations : threads) {
			parallel.add(Arrays.stream(operations.split(",")).map((name) -> actor(model, name)).toList());
		}
		return new ExecutionScenario(List.of(), parallel, List.of(), null);
	}

	private static Actor actor(Class<?> model, String name) {
		try {
			Method method = model.getMethod(name);
			return new Actor(method, List.of());
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalArgumentException(ex);
		}
	}

	/** Lincheck takes an exception for a result like others; here it is an error. */
	public static final class NoExceptions implements Verifier {

		public NoExceptions(Class<?> ignored) {
		}

		@Override
		public boolean verifyResults(ExecutionScenario scenario, ExecutionResult results) {
			return results.getParallelResultsWithClock()
				.stream()
				.flatMap(List::stream)
				.noneMatch((result) -> result.getResult() instanceof ExceptionResult);
		}

	}

}
