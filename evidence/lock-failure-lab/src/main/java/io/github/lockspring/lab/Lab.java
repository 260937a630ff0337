package io.github.lockspring.lab;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.github.lockspring.lab.history.History;
import io.github.lockspring.lab.server.LabProcesses;
import io.github.lockspring.lab.worker.WorkerPool;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.stereotype.Component;

/**
 * The failure lab: runs one sale at a time, and keeps the latest ones. Starts its first
 * process at the first run. Thread-safe.
 */
@Component
@ConditionalOnBooleanProperty(name = "lab.enabled", matchIfMissing = true)
public class Lab {

	/** The most shops of a run. */
	public static final int MAX_SHOPS = 4;

	private static final int MAX_RUNS = 200;

	private final Deque<LabRun> runs = new ArrayDeque<>();

	private final ExecutorService thread = Executors.newSingleThreadExecutor((task) -> {
		Thread created = new Thread(task, "failure-lab");
		created.setDaemon(true);
		return created;
	});

	private final Outcomes outcomes = new Outcomes();

	private int number;

	private boolean reserved;

	private @Nullable LabProcesses processes;

	private @Nullable WorkerPool pool;

	private @Nullable LabRun present;

	/**
	 * Starts a run.
	 * @param recipe the recipe
	 * @param fault the fault
	 * @param shops the number of shops
	 * @return the run, or empty while another one is going on
	 * @throws IllegalArgumentException if there is no such cell
	 */
	public synchronized Optional<RunState> start(String recipe, String fault, int shops) {
		Cell cell = cell(recipe, fault);
		return isFree() ? Optional.of(begin(cell, shops).state(false)) : Optional.empty();
	}

	private static Cell cell(String recipe, String fault) {
		return Catalogue.cell(recipe, fault)
			.orElseThrow(() -> new IllegalArgumentException("The fault '" + fault + "' does not apply to the recipe '"
					+ recipe + "', or there is no such recipe or fault; see /lab/api/catalogue"));
	}

	private boolean isFree() {
		return !this.reserved && (this.present == null || this.present.isFinished());
	}

	/** Keeps others from starting a run. */
	synchronized boolean reserve() {
		boolean free = isFree();
		this.reserved |= free;
		return free;
	}

	synchronized void free() {
		this.reserved = false;
	}

	/** Starts a run for the one that has reserved the lab. */
	synchronized LabRun beginReserved(Cell cell, int shops) {
		return begin(cell, shops);
	}

	private LabRun begin(Cell cell, int shops) {
		return begin(Catalogue.recipe(cell.recipe()).orElseThrow(), cell, shops);
	}

	synchronized LabRun begin(RecipeInfo recipe, Cell cell, int shops) {
		LabRun run = new LabRun("r" + ++this.number, recipe, Catalogue.fault(cell.fault()).orElseThrow(), cell, shops);
		this.present = run;
		this.runs.addFirst(run);
		if (this.runs.size() > MAX_RUNS) {
			this.runs.removeLast();
		}
		this.thread.execute(() -> {
			run.play(this::processes, this::pool);
			this.outcomes.add(run);
		});
		return run;
	}

	List<MatrixState.Outcome> outcomes() {
		return this.outcomes.all();
	}

	private synchronized LabProcesses processes() {
		LabProcesses started = this.processes;
		if (started == null) {
			started = new LabProcesses();
			this.processes = started;
		}
		return started;
	}

	private synchronized WorkerPool pool() {
		WorkerPool created = this.pool;
		if (created == null) {
			created = new WorkerPool(processes());
			this.pool = created;
		}
		return created;
	}

	/**
	 * Cancels a run, if it is going on.
	 * @param id the run
	 * @return whether there is such a run
	 */
	public boolean cancel(String id) {
		Optional<LabRun> run = run(id);
		run.ifPresent(LabRun::cancel);
		return run.isPresent();
	}

	/**
	 * Returns the latest runs.
	 * @param limit how many at most
	 * @return the runs without their events, the latest first
	 */
	public synchronized List<RunState> runs(int limit) {
		return this.runs.stream().limit(limit).map((run) -> run.state(false)).toList();
	}

	/**
	 * Returns a run.
	 * @param id the run
	 * @param withEvents whether to include its events
	 * @return the run, if it is known
	 */
	public Optional<RunState> run(String id, boolean withEvents) {
		return run(id).map((run) -> run.state(withEvents));
	}

	/**
	 * Returns the history of a run.
	 * @param id the run
	 * @return its history, if it is known
	 */
	public Optional<History> history(String id) {
		return run(id).map(LabRun::history);
	}

	/**
	 * Returns what the lock of a run has on the servers, or had at its end.
	 * @param id the run
	 * @return the keys, if the run is known
	 */
	public Optional<ServerKeys> keys(String id) {
		return run(id).map(LabRun::keys);
	}

	private synchronized Optional<LabRun> run(String id) {
		return new ArrayList<>(this.runs).stream().filter((run) -> run.id().equals(id)).findFirst();
	}

	/** Returns the folder of this lab, which is there from its first run to its end. */
	Path directory() {
		return processes().directory();
	}

	@PreDestroy
	void close() {
		this.thread.shutdownNow();
		synchronized (this) {
			if (this.processes != null) {
				this.processes.close();
			}
		}
	}

}
