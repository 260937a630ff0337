package io.github.lockspring.lab;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.lab.history.History;
import io.github.lockspring.lab.server.LabProcesses;
import io.github.lockspring.lab.server.LabServers;
import io.github.lockspring.lab.server.Topology;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The bound in time of a run, without shops.
 */
class StageTests {

	/** The script would take four minutes. */
	@Test
	@Timeout(value = 60, unit = TimeUnit.SECONDS)
	void scriptThatTakesTooLongDoesNotWaitAnyMore() throws InterruptedException {
		try (LabProcesses processes = new LabProcesses();
				LabServers servers = new LabServers(processes, Topology.DATABASE, 0)) {
			Stage stage = new Stage(Recipes.ALL.get(0), List.of(), servers, new History(), 100);
			stage.pause(60_000);
			assertThat(stage.awaitOther("sold", 0, 60_000)).isFalse();
			assertThat(stage.awaitShop(1, "sold", 0, 60_000)).isFalse();
			stage.pause(60_000);
		}
	}

}
