package io.github.lockspring.lab.worker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadLocalRandom;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The process of a shop. Reads orders of the lab from its standard input, one line of
 * JSON each, and reports events on its standard output. Ends when the input does.
 */
public final class WorkerMain {

	private final JsonMapper json = JsonMapper.shared();

	private final Reporter reporter;

	private final Points points;

	private final ShopClock clock = new ShopClock();

	private volatile boolean selling;

	private volatile boolean ended;

	private volatile @Nullable Shop shop;

	private WorkerMain(PrintStream out) {
		this.reporter = new Reporter(this.json, out);
		this.points = new Points(this.reporter);
	}

	/**
	 * Runs until the standard input ends, then halts this JVM.
	 * @param args none
	 */
	public static void main(String[] args) {
		PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
		System.setOut(System.err);
		WorkerMain worker = new WorkerMain(out);
		worker.reporter.report("up");
		try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
			String line;
			while ((line = in.readLine()) != null) {
				worker.obey(worker.json.readTree(line));
			}
		}
		catch (IOException ex) {
			// the lab is gone
		}
		Runtime.getRuntime().halt(0);
	}

	private void obey(JsonNode order) {
		switch (order.get("order").asString()) {
			case "prepare" -> start(this.json.treeToValue(order.get("setup"), RunSetup.class));
			case "sell" -> this.selling = true;
			case "arm" -> this.points.arm(order.get("point").asString());
			case "go" -> this.points.letGo(order.get("point").asString());
			case "clock" -> this.clock.shift(order.get("millis").asLong());
			case "fail" -> failNextWork();
			default -> end();
		}
	}

	private void failNextWork() {
		Shop present = this.shop;
		if (present != null) {
			present.failNextWork();
		}
	}

	private void end() {
		this.ended = true;
		this.points.letAllGo();
	}

	private void start(RunSetup setup) {
		this.selling = false;
		this.ended = false;
		Thread thread = new Thread(() -> {
			try (Shop opened = new Shop(setup, this.reporter, this.points, this.clock);
					Recipe recipe = recipe(setup, opened)) {
				this.shop = opened;
				sell(opened, recipe);
			}
			catch (Throwable ex) {
				ex.printStackTrace();
				this.reporter.report("failed", "text", "The shop cannot open: " + ex.getMessage());
			}
			this.shop = null;
			this.clock.shift(0);
			this.reporter.report("idle");
		}, "seller");
		thread.setDaemon(true);
		thread.start();
	}

	private static Recipe recipe(RunSetup setup, Shop shop) throws ReflectiveOperationException {
		var constructor = Class.forName(setup.recipe()).getDeclaredConstructor(Shop.class);
		constructor.setAccessible(true);
		try {
			return (Recipe) constructor.newInstance(shop);
		}
		catch (InvocationTargetException ex) {
			throw new IllegalStateException(ex.getTargetException().getMessage(), ex.getTargetException());
		}
	}

	private void sell(Shop opened, Recipe recipe) {
		opened.open();
		this.reporter.report("ready");
		while (!this.selling && !this.ended) {
			Shop.pause(1);
		}
		while (!this.ended && !opened.isSoldOut()) {
			try {
				this.points.reach("asking");
				opened.ask();
				recipe.sell();
			}
			catch (Exception ex) {
				opened.failed(ex);
				Shop.pause(80);
			}
			Shop.pause(ThreadLocalRandom.current().nextLong(20, 40));
		}
	}

}
