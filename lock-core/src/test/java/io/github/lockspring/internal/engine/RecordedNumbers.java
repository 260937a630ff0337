package io.github.lockspring.internal.engine;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.LockEvent;
import io.github.lockspring.internal.engine.support.LockRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what is recorded, as lines that a test can read. Thread-safe.
 */
final class RecordedNumbers implements LockRecorder {

	private final List<String> lines = new ArrayList<>();

	private int waiting;

	private int held;

	private synchronized void add(String line) {
		this.lines.add(line);
	}

	/** What was recorded, except for commands. */
	synchronized List<String> lines() {
		return this.lines.stream().filter((line) -> !line.startsWith("command")).toList();
	}

	synchronized List<String> commands() {
		return this.lines.stream().filter((line) -> line.startsWith("command")).toList();
	}

	synchronized int waiting() {
		return this.waiting;
	}

	synchronized int held() {
		return this.held;
	}

	@Override
	public void requested(@Nullable String name, Outcome outcome, long waited) {
		add("requested " + name + " " + outcome + " " + millis(waited));
	}

	@Override
	public synchronized void waiting(@Nullable String name, int change) {
		this.waiting += change;
	}

	@Override
	public synchronized void held(@Nullable String name, @Nullable Origin origin) {
		this.held++;
		add("held " + name + ((origin != null) ? " " + origin : ""));
	}

	@Override
	public synchronized void ended(@Nullable String name, long held) {
		this.held--;
		add("ended " + name + " " + millis(held));
	}

	@Override
	public void renewed(@Nullable String name, Renewal renewal) {
		add("renewed " + name + " " + renewal);
	}

	@Override
	public void lost(@Nullable String name, LockEvent.Lost.Cause cause) {
		add("lost " + name + " " + cause);
	}

	@Override
	public void commanded(Command command, String shard, boolean answered, long took) {
		add("command " + command + " '" + shard + "' " + (answered ? "answered " : "failed ") + millis(took));
	}

	private static String millis(long nanos) {
		return nanos / 1_000_000 + "ms";
	}

}
