package io.github.lockspring.testsupport.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.store.LockStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of stores, for the example of {@code docs/contribute/write-a-store.md}.
 */
class ExampleLockStoreTests extends AbstractLockStoreTests {

	private static final Path SOURCES = Path.of("src/test/java/io/github/lockspring/testsupport/store");

	private static final Path PAGE = Path.of("..", "..", "docs", "contribute", "write-a-store.md");

	private static final Pattern EXAMPLE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

	private final ExampleLockStore.Server server = new ExampleLockStore.Server();

	@Override
	protected LockStore createStore() {
		return new ExampleLockStore(this.server);
	}

	@Override
	protected void loseEverything() {
		this.server.loseEverything();
	}

	@Override
	protected int leftovers() {
		return this.server.size();
	}

	@Test
	void instancesThatShareAServerExcludeEachOther() {
		LockRequest request = LockRequest.of(this.key);
		try (Instance one = Instance.over(createStore()).start();
				Instance other = Instance.over(createStore()).start()) {
			HeldLock held = one.locks().acquire(request);
			assertThat(other.locks().tryAcquire(request.waitTime(Duration.ZERO))).isEmpty();
			long fencingToken = held.fencingToken();
			held.close();
			try (HeldLock next = other.locks().acquire(request)) {
				assertThat(next.fencingToken()).isGreaterThan(fencingToken);
			}
		}
		assertThat(leftovers()).isZero();
	}

	/** All but the bean of an application, which is an invented store. */
	@Test
	void pageShowsTheExampleAsItIs() throws IOException {
		String sources = oneLine(Files.readString(SOURCES.resolve("ExampleLockStore.java")))
				+ oneLine(Files.readString(SOURCES.resolve("ExampleLockStoreTests.java")));
		List<String> shown = EXAMPLE.matcher(Files.readString(PAGE))
			.results()
			.flatMap((example) -> Stream.of(example.group(1).split("\n\n")))
			.map(ExampleLockStoreTests::oneLine)
			.filter((part) -> !part.contains("Acme"))
			.toList();
		assertThat(shown).hasSizeGreaterThan(8).allMatch(sources::contains);
	}

	private static String oneLine(String text) {
		return text.replaceAll("\\s+", " ").trim();
	}

}
