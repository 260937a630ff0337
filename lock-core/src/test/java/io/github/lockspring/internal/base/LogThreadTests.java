package io.github.lockspring.internal.base;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Lines of the log behind an appender that blocks.
 */
@Timeout(60)
class LogThreadTests {

	@Test
	void appenderThatBlocksDelaysNobody() {
		CompletableFuture<Void> released = new CompletableFuture<>();
		List<Integer> written = new CopyOnWriteArrayList<>();
		CompletableFuture<Void> blocked = new CompletableFuture<>();
		LogThread.execute(() -> {
			blocked.complete(null);
			released.join();
		});
		blocked.join();
		IntStream.range(0, LogThread.MAX_WAITING + 10).forEach((i) -> LogThread.execute(() -> written.add(i)));
		assertThat(written).isEmpty();
		released.complete(null);
		CompletableFuture<Void> last = new CompletableFuture<>();
		while (!last.isDone()) {
			LogThread.execute(() -> last.complete(null));
			Thread.onSpinWait();
		}
		assertThat(written).as("in order; what does not fit is dropped")
			.isEqualTo(IntStream.range(0, LogThread.MAX_WAITING).boxed().toList());
	}

	@Test
	void lineThatFailsKeepsNoOtherFromBeingWritten() {
		CompletableFuture<Void> written = new CompletableFuture<>();
		LogThread.execute(() -> {
			throw new IllegalStateException("an appender");
		});
		LogThread.execute(() -> written.complete(null));
		written.join();
	}

}
