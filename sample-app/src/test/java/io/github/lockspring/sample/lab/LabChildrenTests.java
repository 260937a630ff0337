package io.github.lockspring.sample.lab;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.github.lockspring.testsupport.process.Conversation;
import io.github.lockspring.testsupport.process.JavaProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class LabChildrenTests {

	/** Also a shop that is stopped at that moment, which notices nothing. */
	@Test
	void childrenAndFilesAreGoneWhenTheLabIsKilled(@TempDir Path directory) {
		try (JavaProcess process = new JavaProcess("lab", directory, LabInAProcess.class, List.of())) {
			Path files = Path.of(process.await("directory"));
			List<ProcessHandle> children = Arrays.stream(process.await("children").split(" "))
				.map(Long::parseLong)
				.flatMap((pid) -> ProcessHandle.of(pid).stream())
				.toList();
			assertThat(children).as("two shops and a server").hasSize(3);
			assertThat(files).exists();
			process.kill();
			await().atMost(Duration.ofSeconds(30)).until(() -> children.stream().noneMatch(ProcessHandle::isAlive));
			await().atMost(Duration.ofSeconds(30)).until(() -> Files.notExists(files));
		}
	}

	/**
	 * A lab in the middle of a run whose first shop is stopped.
	 */
	static final class LabInAProcess {

		private LabInAProcess() {
		}

		public static void main(String[] args) throws InterruptedException {
			Conversation conversation = new Conversation();
			Lab lab = new Lab();
			Cell cell = Catalogue.cell("set-nx-del", "stopped").orElseThrow();
			LabRun run = lab.begin(Catalogue.recipe("set-nx-del").orElseThrow(), cell, 2);
			run.history().await(0, (event) -> event.is("stopped"), 120_000);
			conversation.say("directory " + lab.directory());
			conversation.say("children " + String.join(" ",
					run.state(false)
						.lanes()
						.stream()
						.filter((lane) -> lane.pid() != null)
						.map((lane) -> String.valueOf(lane.pid()))
						.toList()));
			conversation.hear();
		}

	}

}
