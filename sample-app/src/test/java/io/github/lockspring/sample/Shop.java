package io.github.lockspring.sample;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/**
 * Asks an instance of the shop what its page asks.
 *
 * @param port the instance's port
 */
record Shop(int port) {

	private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	String get(String path) {
		return CLIENT.sendAsync(HttpRequest.newBuilder(uri(path)).build(), BodyHandlers.ofString()).join().body();
	}

	CompletableFuture<HttpResponse<String>> post(String path) {
		return post(path, BodyPublishers.ofString("[\"tea\"]"));
	}

	CompletableFuture<HttpResponse<String>> post(String path, BodyPublisher body) {
		return CLIENT.sendAsync(HttpRequest.newBuilder(uri("/api/token")).build(), BodyHandlers.ofString())
			.thenCompose((token) -> CLIENT.sendAsync(HttpRequest.newBuilder(uri(path))
				.header("Content-Type", "application/json")
				.header("X-Page-Token", token.body())
				.POST(body)
				.build(), BodyHandlers.ofString()));
	}

	List<HttpResponse<String>> postAtOnce(int times, String path) {
		return IntStream.range(0, times)
			.mapToObj((i) -> post(path))
			.toList()
			.stream()
			.map(CompletableFuture::join)
			.toList();
	}

	private URI uri(String path) {
		return URI.create("http://127.0.0.1:" + this.port + path);
	}

}
