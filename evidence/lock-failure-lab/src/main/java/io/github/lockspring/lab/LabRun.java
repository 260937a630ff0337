package io.github.lockspring.lab;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.lockspring.lab.RunState.Lane;
import io.github.lockspring.lab.RunState.Sale;
import io.github.lockspring.lab.history.Findings;
import io.github.lockspring.lab.history.History;
import io.github.lockspring.lab.history.LabEvent;
import io.github.lockspring.lab.history.Verdict;
import io.github.lockspring.lab.server.LabProcesses;
import io.github.lockspring.lab.server.LabServers;
import io.github.lockspring.lab.server.SeatDatabase;
import io.github.lockspring.lab.worker.RunSetup.ServerAddress;
import io.github.lockspring.lab.worker.RunSetup;
import io.github.lockspring.lab.worker.Worker;
import io.github.lockspring.lab.worker.WorkerPool;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/**
 * One sale under one fault. One thread runs it, any thread may look at it.
 */
final class LabRun {

	static final int SEATS = 100;

	static final long TTL_MILLIS = 1_000;

	private static final Logger logger = LoggerFactory.getLogger(LabRun.class);

	private static final long PREPARE_MILLIS = 60_000;

	private static final long END_MILLIS = 4_000;

	private final String id;

	private final RecipeInfo recipe;

	private final Fault fault;

	private final Cell cell;

	private final int shops;

	private final Instant startedAt = Instant.now().truncatedTo(ChronoUnit.MILLIS);

	private final History history = new History();

	private final List<Worker> workers = new ArrayList<>();

	/** The last word of each worker: {@code ready} or {@code idle}. */
	private final Map<String, String> words = new ConcurrentHashMap<>();

	private final Map<String, String> problems = new ConcurrentHashMap<>();

	private volatile String state = "starting";

	private volatile List<Lane> lanes = List.of();

	private volatile double duration;

	private volatile long begun;

	private volatile @Nullable Verdict verdict;

	private volatile @Nullable ServerKeys keys;

	private volatile @Nullable LabServers servers;

	private @Nullable Thread player;

	private volatile boolean cancelled;

	private boolean prepared;

	LabRun(String id, RecipeInfo recipe, Fault fault, Cell cell, int shops) {
		this.id = id;
		this.recipe = recipe;
		this.fault = fault;
		this.cell = cell;
		this.shops = shops;
	}

	String id() {
		return this.id;
	}

	Cell cell() {
		return this.cell;
	}

	History history() {
		return this.history;
	}

	@Nullable Verdict verdict() {
		return this.verdict;
	}

	boolean isFinished() {
		return this.state.equals("finished");
	}

	RunState state(boolean withEvents) {
		List<LabEvent> events = this.history.from(0);
		long millis = Math.round(this.state.equals("running") ? this.history.millis(System.nanoTime()) : this.duration);
		return new RunState(this.id, this.recipe.id(), this.fault.id(), this.shops, this.state,
				this.startedAt.toString(), millis, this.lanes, Sale.of(SEATS, events), this.verdict,
				withEvents ? events : null);
	}

	ServerKeys keys() {
		ServerKeys last = this.keys;
		LabServers present = this.servers;
		if (last != null) {
			return last;
		}
		return (present != null) ? ServerKeys.read(present, this.recipe) : ServerKeys.NONE;
	}

	/** Ends the run early, if it is going on. */
	synchronized void cancel() {
		this.cancelled = true;
		if (this.player != null) {
			this.player.interrupt();
		}
	}

	private synchronized void playedBy(@Nullable Thread thread) {
		this.player = thread;
		if (thread == null) {
			// the thread also plays the next run
			Thread.interrupted();
		}
	}

	/** What starts processes, servers and databases may swallow an interrupt. */
	private void checkCancelled() throws InterruptedException {
		if (this.cancelled) {
			throw new InterruptedException("The run was cancelled");
		}
	}

	/** Runs the sale. Returns when it is over and judged. */
	void play(Supplier<LabProcesses> processes, Supplier<WorkerPool> pool) {
		playedBy(Thread.currentThread());
		try (SeatDatabase database = new SeatDatabase(SEATS);
				LabServers started = new LabServers(processes.get(), this.recipe.topology(), this.shops)) {
			this.servers = started;
			for (int shop = 1; shop <= this.shops; shop++) {
				this.workers.add(pool.get().take());
			}
			this.lanes = lanes(started);
			checkCancelled();
			prepare(started, database);
			checkCancelled();
			begin();
			Stage stage = new Stage(this.recipe, this.workers, started, this.history, Stage.MAX_MILLIS);
			stage.open();
			stage.pause(400);
			this.fault.script().play(stage);
			stage.pause(500);
			checkCancelled();
			close(started);
			judge(database);
		}
		catch (InterruptedException ex) {
			this.verdict = Verdicts.cancelled(this.cell);
		}
		catch (RuntimeException ex) {
			if (!this.cancelled) {
				logger.warn("Run {} of the failure lab failed", this.id, ex);
			}
			this.verdict = this.cancelled ? Verdicts.cancelled(this.cell)
					: Verdicts.failed(this.cell, String.valueOf(ex.getMessage()));
		}
		finally {
			this.servers = null;
			playedBy(null);
			finish(pool);
			this.state = "finished";
		}
	}

	private List<Lane> lanes(LabServers started) {
		List<Lane> all = new ArrayList<>();
		for (int shop = 1; shop <= this.shops; shop++) {
			all.add(new Lane(Stage.name(shop), "shop", "Shop " + shop, this.workers.get(shop - 1).pid()));
		}
		if (!started.nodes().isEmpty()) {
			all.add(new Lane("network", "network", "Network", null));
		}
		started.nodes()
			.forEach((node) -> all
				.add(new Lane(node.id(), "server", node.id().replace("redis-", "Redis "), node.pid())));
		all.add(new Lane("database", "database", "Database", null));
		return List.copyOf(all);
	}

	private void prepare(LabServers started, SeatDatabase database) throws InterruptedException {
		this.prepared = true;
		for (int shop = 1; shop <= this.shops; shop++) {
			String name = Stage.name(shop);
			List<ServerAddress> addresses = new ArrayList<>();
			for (int i = 0; i < started.networks(shop).size(); i++) {
				addresses.add(new ServerAddress(started.nodes().get(i).id(), started.networks(shop).get(i).port()));
			}
			Worker worker = this.workers.get(shop - 1);
			worker.listen((report) -> record(name, report));
			worker.order("prepare", Map.of("setup", new RunSetup(name, this.recipe.className(), addresses,
					database.url(), TTL_MILLIS, this.recipe.properties())));
		}
		awaitReady();
	}

	private void awaitReady() throws InterruptedException {
		for (int shop = 1; shop <= this.shops; shop++) {
			String answer = awaitWord(shop, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PREPARE_MILLIS));
			if (!"ready".equals(answer)) {
				throw new IllegalStateException(Stage.name(shop) + " does not open: "
						+ this.problems.getOrDefault(Stage.name(shop), "no answer within " + PREPARE_MILLIS + " ms"));
			}
		}
	}

	/** Waits until all shops are done, or have ended. */
	private void awaitIdle() throws InterruptedException {
		long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(END_MILLIS);
		for (int shop = 1; shop <= this.shops; shop++) {
			while ("ready".equals(awaitWord(shop, deadline)) && this.workers.get(shop - 1).isAlive()
					&& System.nanoTime() - deadline < 0) {
				Thread.sleep(5);
			}
		}
	}

	private @Nullable String awaitWord(int shop, long deadline) throws InterruptedException {
		String word;
		while ((word = this.words.get(Stage.name(shop))) == null && this.workers.get(shop - 1).isAlive()
				&& System.nanoTime() - deadline < 0) {
			checkCancelled();
			Thread.sleep(5);
		}
		return word;
	}

	private void begin() {
		this.begun = System.nanoTime();
		this.history.begin(this.begun);
		this.state = "running";
	}

	private void record(String lane, JsonNode report) {
		String type = report.get("type").asString();
		if (type.equals("ready") || type.equals("idle")) {
			this.words.put(lane, type);
			return;
		}
		Map<String, Object> details = new HashMap<>();
		report.properties().forEach((property) -> {
			JsonNode value = property.getValue();
			switch (property.getKey()) {
				case "type", "at" -> {
				}
				case "leaseEnd" -> details.put("leaseEnd", this.history.millis(value.asLong()));
				case "point" -> {
					details.put("point", value.asString());
					details.put("text", "The lab holds this shop at '" + value.asString() + "'");
				}
				default -> details.put(property.getKey(), plain(value));
			}
		});
		if (type.equals("failed") && this.begun == 0) {
			this.problems.put(lane, String.valueOf(details.get("text")));
		}
		this.history.add(lane, type.equals("held") ? "note" : type, report.get("at").asLong(), details);
	}

	private static Object plain(JsonNode value) {
		if (value.isIntegralNumber()) {
			return value.asLong();
		}
		if (value.isNumber()) {
			return Math.round(value.asDouble() * 100) / 100.0;
		}
		return value.isBoolean() ? (Object) value.asBoolean() : value.asString();
	}

	/** Ends the sale and waits until all shops are done. */
	private void close(LabServers started) throws InterruptedException {
		this.duration = this.history.millis(System.nanoTime());
		this.keys = ServerKeys.read(started, this.recipe);
		for (Worker worker : this.workers) {
			worker.order("end", Map.of());
		}
		started.heal();
		awaitIdle();
		this.history.complete();
	}

	private void judge(SeatDatabase database) {
		List<LabEvent> events = this.history.from(0);
		Findings findings = Findings.of(events, this.duration, TTL_MILLIS);
		this.verdict = Verdicts.of(this.cell, findings, events, database.soldTwice());
	}

	private void finish(Supplier<WorkerPool> pool) {
		this.history.complete();
		for (int shop = 1; shop <= this.workers.size(); shop++) {
			Worker worker = this.workers.get(shop - 1);
			if (worker.isAlive() && (!this.prepared || "idle".equals(this.words.get(Stage.name(shop))))) {
				pool.get().giveBack(worker);
			}
			else {
				worker.kill();
			}
		}
		if (this.workers.size() == this.shops) {
			pool.get().fill(this.shops);
		}
	}

}
