package io.github.lockspring.lab.worker;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import io.github.lockspring.lab.server.LabProcesses;

/**
 * Processes of shops that are kept between runs. Thread-safe.
 */
public final class WorkerPool {

	private static final int MAX_IDLE = 4;

	/** Runs a class of an executable jar other than its main class. */
	private static final String LAUNCHER = "org.springframework.boot.loader.launch.PropertiesLauncher";

	private final LabProcesses processes;

	private final Deque<Worker> idle = new ArrayDeque<>();

	private int number;

	/**
	 * Creates a pool. Starts no process.
	 * @param processes starts them
	 */
	public WorkerPool(LabProcesses processes) {
		this.processes = processes;
	}

	/**
	 * Takes a process that is idle, or starts one.
	 * @return the process
	 */
	public synchronized Worker take() {
		Worker worker;
		do {
			worker = this.idle.poll();
		}
		while (worker != null && !worker.isAlive());
		return (worker != null) ? worker : start();
	}

	/**
	 * Takes back a process that is idle again.
	 * @param worker the process
	 */
	public synchronized void giveBack(Worker worker) {
		worker.listen((report) -> {
		});
		if (this.idle.size() < MAX_IDLE) {
			this.idle.push(worker);
		}
		else {
			worker.kill();
		}
	}

	/**
	 * Starts processes until some are idle, so that the next run finds them.
	 * @param number how many are wanted
	 */
	public synchronized void fill(int number) {
		this.idle.removeIf((worker) -> !worker.isAlive());
		while (this.idle.size() < number) {
			this.idle.addLast(start());
		}
	}

	private Worker start() {
		return new Worker(this.processes, this.processes.start("worker-" + ++this.number, command()));
	}

	/** The class path of this JVM, also where that is an executable jar. */
	private static List<String> command() {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
						"-XX:+UseSerialGC", "-Xshare:auto", "-Xmx96m", "-Xss512k", "-Dlogging.level.root=WARN",
						"-Dspring.config.name=lab-worker", "-Dspring.main.lazy-initialization=true"));
		String path = System.getProperty("java.class.path");
		boolean executableJar = WorkerMain.class.getClassLoader()
			.getClass()
			.getName()
			.startsWith("org.springframework.boot.loader");
		command.addAll(List.of("-cp", absolute(path)));
		command.addAll(executableJar ? List.of("-Dloader.main=" + WorkerMain.class.getName(), LAUNCHER)
				: List.of(WorkerMain.class.getName()));
		return command;
	}

	private static String absolute(String path) {
		String separator = System.getProperty("path.separator");
		List<String> entries = new ArrayList<>();
		for (String entry : path.split(separator)) {
			entries.add(Path.of(entry).toAbsolutePath().toString());
		}
		return String.join(separator, entries);
	}

}
