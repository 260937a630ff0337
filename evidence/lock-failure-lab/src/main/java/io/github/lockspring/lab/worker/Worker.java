package io.github.lockspring.lab.worker;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Consumer;

import io.github.lockspring.lab.server.LabProcesses;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The process of a shop as the lab sees it. Thread-safe.
 */
public final class Worker {

	private static final JsonMapper JSON = JsonMapper.shared();

	private final LabProcesses processes;

	private final Process process;

	private final BufferedWriter orders;

	private final Thread reader;

	private volatile Consumer<JsonNode> listener = (report) -> {
	};

	Worker(LabProcesses processes, Process process) {
		this.processes = processes;
		this.process = process;
		this.orders = process.outputWriter(StandardCharsets.UTF_8);
		this.reader = new Thread(this::read, "lab-worker-" + process.pid());
		this.reader.setDaemon(true);
		this.reader.start();
	}

	private void read() {
		try (BufferedReader reports = this.process.inputReader(StandardCharsets.UTF_8)) {
			String line;
			while ((line = reports.readLine()) != null) {
				this.listener.accept(JSON.readTree(line));
			}
		}
		catch (IOException | JacksonException ex) {
			// the process was killed, perhaps in the middle of a line
		}
	}

	/**
	 * Returns the process id.
	 * @return the process id
	 */
	public long pid() {
		return this.process.pid();
	}

	/**
	 * Returns whether the process runs.
	 * @return whether it runs
	 */
	public boolean isAlive() {
		return this.process.isAlive();
	}

	/**
	 * Sets who gets the reports.
	 * @param listener is called with each report, on one thread
	 */
	public void listen(Consumer<JsonNode> listener) {
		this.listener = listener;
	}

	/**
	 * Sends an order.
	 * @param order the order, such as {@code sell}
	 * @param details names and values
	 */
	public synchronized void order(String order, Map<String, ?> details) {
		var line = JSON.createObjectNode().put("order", order);
		details.forEach((name, value) -> line.set(name, JSON.valueToTree(value)));
		try {
			this.orders.write(line.toString());
			this.orders.newLine();
			this.orders.flush();
		}
		catch (IOException ex) {
			if (this.process.isAlive()) {
				throw new UncheckedIOException(ex);
			}
		}
	}

	/** Stops the process, as a long garbage collection does. */
	public void stop() {
		this.processes.signal("STOP", this.process);
	}

	/** Lets the process continue. */
	public void resume() {
		this.processes.signal("CONT", this.process);
	}

	/** Kills the process, and waits until all that it has reported has arrived. */
	public void kill() {
		this.processes.kill(this.process);
		try {
			this.reader.join(5_000);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
