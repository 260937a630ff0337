package io.github.lockspring.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.stereotype.Component;

/**
 * Runs many cells, one after the other. Thread-safe.
 */
@Component
@ConditionalOnBooleanProperty(name = "lab.enabled", matchIfMissing = true)
public class Matrix {

	/** The most runs of each cell in one go. */
	public static final int MAX_RUNS = 10;

	private static final int SHOPS = 2;

	private final Lab lab;

	private @Nullable Thread thread;

	private @Nullable String current;

	private int done;

	private int total;

	Matrix(Lab lab) {
		this.lab = lab;
	}

	/**
	 * Starts to run cells.
	 * @param runs how often each cell is run
	 * @param recipes the recipes, or null for all
	 * @param faults the faults, or null for all
	 * @return whether it was started: not while a run is going on
	 */
	public synchronized boolean start(int runs, @Nullable List<String> recipes, @Nullable List<String> faults) {
		if (this.thread != null || !this.lab.reserve()) {
			return false;
		}
		List<Cell> cells = new ArrayList<>();
		for (int i = 0; i < runs; i++) {
			Catalogue.cells()
				.stream()
				.filter((cell) -> recipes == null || recipes.contains(cell.recipe()))
				.filter((cell) -> faults == null || faults.contains(cell.fault()))
				.forEach(cells::add);
		}
		this.done = 0;
		this.total = cells.size();
		Thread started = new Thread(() -> run(cells), "failure-lab-matrix");
		started.setDaemon(true);
		this.thread = started;
		started.start();
		return true;
	}

	private void run(List<Cell> cells) {
		try {
			for (Cell cell : cells) {
				LabRun run = this.lab.beginReserved(cell, SHOPS);
				started(run.id());
				while (!run.isFinished()) {
					Thread.sleep(20);
				}
				finished();
			}
		}
		catch (InterruptedException ex) {
			cancelCurrent();
		}
		synchronized (this) {
			this.thread = null;
			this.current = null;
		}
		this.lab.free();
	}

	private synchronized void started(String id) {
		this.current = id;
	}

	private synchronized void finished() {
		this.done++;
	}

	private void cancelCurrent() {
		Optional.ofNullable(state().current()).ifPresent(this.lab::cancel);
	}

	/** Cancels the matrix, and the run that is going on. */
	@PreDestroy
	public synchronized void cancel() {
		if (this.thread != null) {
			this.thread.interrupt();
		}
	}

	/**
	 * Returns how far it is, and the outcome of every cell so far.
	 * @return the state
	 */
	public synchronized MatrixState state() {
		return new MatrixState(this.thread != null, this.done, this.total, this.current, this.lab.outcomes());
	}

}
