package io.github.lockspring.lab.page;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The lab's HTTP interface over hand-written runs, which it plays as if they went on.
 * Serves the page from its source folder. It can be closed and opened again at its port,
 * and then knows nothing of its runs, as the sample does.
 */
final class LabStub implements AutoCloseable {

	private static final JsonMapper JSON = new JsonMapper();

	private static final Path PAGE = Path.of("src", "main", "resources", "static");

	/** The second page of the sample, which looks like the lab. */
	private static final Path SHOP = Path.of("..", "..", "sample-app").resolve(PAGE);

	private static final Path RUNS = Path.of("src", "test", "resources", "lab");

	private static final Map<String, String> TYPES = Map.of("html", "text/html", "css", "text/css", "js",
			"text/javascript", "md", "text/markdown");

	private final String token = UUID.randomUUID().toString();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final List<ObjectNode> runs = new ArrayList<>();

	private final List<ObjectNode> matrix = new ArrayList<>();

	private final HttpServer server;

	private boolean closed;

	private boolean held;

	LabStub(int port) throws IOException {
		this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
		this.server.setExecutor(this.threads);
		this.server.createContext("/", this::serveFile);
		this.server.createContext("/lab/api/", this::serve);
		this.server.start();
	}

	int port() {
		return this.server.getAddress().getPort();
	}

	String url() {
		return "http://localhost:" + port() + "/";
	}

	/** Adds a run that is finished, and returns its number. */
	synchronized String add(String file) {
		return add((ObjectNode) read(file));
	}

	synchronized String add(ObjectNode run) {
		run.put("id", "r" + (this.runs.size() + 1));
		this.runs.add(run);
		if (run.path("state").stringValue().equals("finished")) {
			keepOutcome(run);
		}
		return run.get("id").stringValue();
	}

	/** Keeps runs from ending. */
	synchronized void hold() {
		this.held = true;
	}

	/** Lets runs come to their ends. */
	synchronized void release() {
		this.held = false;
		this.runs.stream().filter((run) -> !finished(run)).forEach(this::end);
	}

	/** Reads one of the hand-written runs. */
	static JsonNode read(String file) {
		return JSON.readTree(RUNS.resolve(file).toFile());
	}

	@Override
	public void close() {
		synchronized (this) {
			this.closed = true;
			notifyAll();
		}
		this.server.stop(0);
		this.threads.shutdownNow();
	}

	private void serveFile(HttpExchange exchange) throws IOException {
		String path = exchange.getRequestURI().getPath();
		Path file = file(path.equals("/") ? "index.html" : path.substring(1));
		String name = file.getFileName().toString();
		if (!Files.isRegularFile(file)) {
			answer(exchange, 404, "text/plain", "");
			return;
		}
		answer(exchange, 200, TYPES.get(name.substring(name.lastIndexOf('.') + 1)), Files.readString(file));
	}

	private static Path file(String path) {
		if (path.startsWith("docs/")) {
			return Path.of("..", "..").resolve(path);
		}
		return (path.equals("shop.html") ? SHOP : PAGE).resolve(path);
	}

	private void serve(HttpExchange exchange) throws IOException {
		String path = exchange.getRequestURI().getPath().substring("/lab/api".length());
		String call = exchange.getRequestMethod() + " " + path.replaceAll("/r\\d+", "/{id}");
		boolean writes = !exchange.getRequestMethod().equals("GET");
		if (writes && !this.token.equals(exchange.getRequestHeaders().getFirst("X-Page-Token"))) {
			problem(exchange, 403, "The token is not that of this page. Reload it.");
			return;
		}
		ObjectNode run = path.startsWith("/runs/") ? find(path.split("/")[2]) : null;
		if (path.startsWith("/runs/") && run == null) {
			problem(exchange, 404, "There is no such run.");
			return;
		}
		switch (call) {
			case "GET /catalogue" ->
				json(exchange, 200, ((ObjectNode) read("catalogue.json")).put("token", this.token));
			case "POST /runs" -> start(exchange, JSON.readTree(exchange.getRequestBody()));
			case "GET /runs" -> json(exchange, 200, latest());
			case "GET /runs/{id}" -> json(exchange, 200, run);
			case "GET /runs/{id}/keys" -> json(exchange, 200, read("keys.json"));
			case "DELETE /runs/{id}" -> {
				run.putObject("verdict").put("code", "cancelled").putArray("why");
				finish(run);
				json(exchange, 200, run);
			}
			case "GET /runs/{id}/events" -> stream(exchange, run);
			case "GET /matrix" -> json(exchange, 200, matrixState());
			case "GET /matrix/events" -> streamMatrix(exchange);
			default -> problem(exchange, 404, "There is nothing here.");
		}
	}

	private synchronized ObjectNode find(String id) {
		return this.runs.stream().filter((run) -> run.get("id").stringValue().equals(id)).findFirst().orElse(null);
	}

	private synchronized JsonNode latest() {
		ArrayNode latest = JSON.createArrayNode();
		if (!this.runs.isEmpty()) {
			latest.add(withoutEvents(this.runs.get(this.runs.size() - 1)));
		}
		return latest;
	}

	private synchronized ObjectNode withoutEvents(ObjectNode run) {
		ObjectNode copy = run.deepCopy();
		copy.remove("events");
		return copy;
	}

	private static boolean finished(ObjectNode run) {
		return run.path("state").stringValue().equals("finished");
	}

	private synchronized boolean busy() {
		return this.runs.stream().anyMatch((run) -> !finished(run));
	}

	private void start(HttpExchange exchange, JsonNode asked) throws IOException {
		if (busy()) {
			exchange.getResponseHeaders().set("Retry-After", "5");
			problem(exchange, 429, "Another run is going on.");
			return;
		}
		ObjectNode run = begin(asked.path("recipe").stringValue(), asked.path("fault").stringValue());
		JsonNode begun = withoutEvents(run);
		if (!this.held) {
			end(run);
		}
		json(exchange, 202, begun);
	}

	/** The run of this pair, or the safe one where none was written for it. */
	private static String file(String recipe, String fault) {
		String file = recipe + "-" + fault + ".json";
		return Files.exists(RUNS.resolve(file)) ? file : "lockspring-answer-lost.json";
	}

	private synchronized ObjectNode begin(String recipe, String fault) {
		ObjectNode run = (ObjectNode) read(file(recipe, fault));
		run.put("recipe", recipe).put("fault", fault).put("state", "running").remove("verdict");
		run.putArray("events");
		run.putObject("sale").put("seats", 100).put("sold", 0).put("soldTwice", 0).put("refused", 0).put("waiting", 1);
		add(run);
		return run;
	}

	private synchronized void end(ObjectNode run) {
		JsonNode whole = read(file(run.path("recipe").stringValue(), run.path("fault").stringValue()));
		List.of("sale", "verdict", "events").forEach((part) -> run.set(part, whole.get(part)));
		finish(run);
	}

	private synchronized void finish(ObjectNode run) {
		run.put("state", "finished");
		keepOutcome(run);
		notifyAll();
	}

	private void keepOutcome(ObjectNode run) {
		JsonNode verdict = run.get("verdict");
		this.matrix.removeIf(
				(cell) -> cell.get("recipe").equals(run.get("recipe")) && cell.get("fault").equals(run.get("fault")));
		ObjectNode cell = JSON.createObjectNode();
		cell.set("recipe", run.get("recipe"));
		cell.set("fault", run.get("fault"));
		cell.set("run", run.get("id"));
		cell.set("code", verdict.get("code"));
		cell.set("stuckSeconds", verdict.path("stuckSeconds"));
		cell.put("asExpected", verdict.path("asExpected").asBoolean(false)).put("runs", 1).put("asExpectedRuns", 1);
		this.matrix.add(cell);
	}

	private synchronized ObjectNode matrixState() {
		ObjectNode state = JSON.createObjectNode();
		state.put("running", false).put("done", 0).put("total", 0);
		if (!this.runs.isEmpty() && busy()) {
			state.set("current", this.runs.get(this.runs.size() - 1).get("id"));
		}
		state.putArray("cells").addAll(this.matrix);
		return state;
	}

	/** All events at the end of the run. */
	private void stream(HttpExchange exchange, ObjectNode run) throws IOException {
		try (OutputStream out = openStream(exchange)) {
			StringBuilder news = new StringBuilder();
			synchronized (this) {
				while (!finished(run) && !this.closed) {
					pauseForNews();
				}
				for (JsonNode event : run.get("events")) {
					news.append("event: event\ndata: ").append(event).append("\n\n");
				}
				news.append("event: state\ndata: ").append(withoutEvents(run)).append("\n\n");
			}
			out.write(news.toString().getBytes(StandardCharsets.UTF_8));
		}
	}

	private void streamMatrix(HttpExchange exchange) throws IOException {
		try (OutputStream out = openStream(exchange)) {
			String sent = "";
			while (!this.closed) {
				String state = matrixState().toString();
				out.write((state.equals(sent) ? ":\n\n" : "event: matrix\ndata: " + state + "\n\n")
					.getBytes(StandardCharsets.UTF_8));
				out.flush();
				sent = state;
				synchronized (this) {
					pauseForNews();
				}
			}
		}
	}

	private void pauseForNews() {
		try {
			wait(200);
		}
		catch (InterruptedException ex) {
			this.closed = true;
		}
	}

	private static OutputStream openStream(HttpExchange exchange) throws IOException {
		exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
		exchange.sendResponseHeaders(200, 0);
		return exchange.getResponseBody();
	}

	private static void problem(HttpExchange exchange, int status, String detail) throws IOException {
		answer(exchange, status, "application/problem+json",
				JSON.createObjectNode().put("status", status).put("detail", detail).toString());
	}

	private void json(HttpExchange exchange, int status, JsonNode body) throws IOException {
		String text;
		synchronized (this) {
			text = body.toString();
		}
		answer(exchange, status, "application/json", text);
	}

	private static void answer(HttpExchange exchange, int status, String type, String body) {
		try (exchange) {
			byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
			exchange.getResponseHeaders().set("Content-Type", type + ";charset=utf-8");
			exchange.sendResponseHeaders(status, bytes.length);
			exchange.getResponseBody().write(bytes);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
