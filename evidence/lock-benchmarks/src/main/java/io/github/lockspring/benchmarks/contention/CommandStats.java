package io.github.lockspring.benchmarks.contention;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockspring.testsupport.redis.RedisServer;

/**
 * The statistics of Redis about its commands. Those called by scripts are counted like
 * those that clients send, and a script's time contains theirs.
 *
 * @param commands calls and microseconds of each command
 * @param cpuSeconds CPU time of the server
 */
record CommandStats(Map<String, Command> commands, double cpuSeconds) {

	private static final Pattern COMMAND = Pattern.compile("cmdstat_([^:]+):calls=(\\d+),usec=(\\d+),");

	private static final Pattern CPU = Pattern.compile("used_cpu_(?:sys|user):([\\d.]+)");

	/** The commands that no script can call. */
	private static final Set<String> NEVER_IN_SCRIPTS = Set.of("eval", "evalsha", "eval_ro", "evalsha_ro", "fcall",
			"script|load", "script|exists", "subscribe", "unsubscribe", "psubscribe", "punsubscribe", "ssubscribe",
			"sunsubscribe", "multi", "exec", "wait", "ping", "echo", "hello", "auth", "select", "client|setname",
			"client|setinfo", "client|id");

	/** The commands that this class sends. */
	private static final Set<String> IGNORED = Set.of("info");

	/**
	 * Reads what {@code INFO commandstats} and {@code INFO cpu} answer.
	 */
	static CommandStats parse(String commandStats, String cpu) {
		Map<String, Command> commands = new HashMap<>();
		Matcher command = COMMAND.matcher(commandStats);
		while (command.find()) {
			if (!IGNORED.contains(command.group(1))) {
				commands.put(command.group(1),
						new Command(Long.parseLong(command.group(2)), Long.parseLong(command.group(3))));
			}
		}
		double seconds = 0;
		Matcher time = CPU.matcher(cpu);
		while (time.find()) {
			seconds += Double.parseDouble(time.group(1));
		}
		return new CommandStats(commands, seconds);
	}

	static CommandStats of(RedisServer redis) {
		return parse(redis.text("INFO", "commandstats"), redis.text("INFO", "cpu"));
	}

	CommandStats since(CommandStats before) {
		Map<String, Command> difference = new HashMap<>();
		this.commands.forEach((name, now) -> {
			Command then = before.commands.getOrDefault(name, Command.NONE);
			if (now.calls > then.calls) {
				difference.put(name, new Command(now.calls - then.calls, now.micros - then.micros));
			}
		});
		return new CommandStats(difference, this.cpuSeconds - before.cpuSeconds);
	}

	/**
	 * All calls, those inside scripts included.
	 */
	long executed() {
		return this.commands.values().stream().mapToLong(Command::calls).sum();
	}

	/**
	 * Returns the commands that clients sent.
	 * @param direct what they send themselves, beside what no script can call
	 */
	Command sent(Set<String> direct) {
		long calls = 0;
		long micros = 0;
		for (Map.Entry<String, Command> command : this.commands.entrySet()) {
			if (NEVER_IN_SCRIPTS.contains(command.getKey()) || direct.contains(command.getKey())) {
				calls += command.getValue().calls;
				micros += command.getValue().micros;
			}
		}
		return new Command(calls, micros);
	}

	/**
	 * The cost of one command.
	 *
	 * @param calls how often it was called
	 * @param micros how long that took Redis
	 */
	record Command(long calls, long micros) {

		static final Command NONE = new Command(0, 0);

	}

}
