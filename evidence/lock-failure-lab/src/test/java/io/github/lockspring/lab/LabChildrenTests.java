package io.github.lockspring.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.lockspring.testsupport.process.Conversation;
import io.github.lockspring.testsupport.process.JavaProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class LabChildrenTests {

	@Test
	void childrenAndFilesAreGoneWhenTheLabIsKilled(@TempDir Path directory) {
		childrenAndFilesAreGone(directory, (lab) -> send("KILL", Stream.of(lab)));
	}

	/** A terminal signals the whole group of processes, the children too. */
	@Test
	void childrenAndFilesAreGoneAfterControlC(@TempDir Path directory) throws IOException {
		Path status = Path.of("/proc/self/status");
		assumeTrue(Files.notExists(status) || !ignoresInterrupts(Files.readString(status)),
				"this build ignores SIGINT, as in the background of a shell, and so do its children");
		childrenAndFilesAreGone(directory, (lab) -> send("INT", Stream.concat(lab.descendants(), Stream.of(lab))));
	}

	private static boolean ignoresInterrupts(String status) {
		Matcher ignored = Pattern.compile("SigIgn:\\s*([0-9a-f]+)").matcher(status);
		return ignored.find() && (Long.parseUnsignedLong(ignored.group(1), 16) & 2) != 0;
	}

	private static void send(String signal, Stream<ProcessHandle> processes) {
		List<String> command = new ArrayList<>(List.of("kill", "-" + signal));
		processes.forEach((process) -> command.add(String.valueOf(process.pid())));
		try {
			new ProcessBuilder(command).start().onExit().join();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Also a shop that is stopped at that moment, which notices nothing. */
	private static void childrenAndFilesAreGone(Path directory, Consumer<ProcessHandle> end) {
		try (JavaProcess process = new JavaProcess("lab", directory, LabInAProcess.class, List.of())) {
			Path files = Path.of(process.await("directory"));
			List<ProcessHandle> children = Arrays.stream(process.await("children").split(" "))
				.map(Long::parseLong)
				.flatMap((pid) -> ProcessHandle.of(pid).stream())
				.toList();
			assertThat(children).as("two shops and a server").hasSize(3);
			assertThat(files).exists();
			end.accept(children.get(0).parent().orElseThrow());
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
			LabRun run;
			// again, if a busy machine gave the first shop no turn
			do {
				run = lab.begin(Catalogue.recipe("set-nx-del").orElseThrow(), cell, 2);
			}
			while (!run.history().await(0, (event) -> event.is("stopped"), 120_000));
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
