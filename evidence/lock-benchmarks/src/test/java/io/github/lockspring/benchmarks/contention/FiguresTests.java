package io.github.lockspring.benchmarks.contention;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.lockspring.benchmarks.adapter.AdapterKind;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * What is computed from what was measured.
 */
class FiguresTests {

	private static final Scenario HOT = Scenario.of("hot-4x1");

	@Test
	void jainsIndexIsOneForEqualSharesAndOneNthForASingleWinner() {
		assertThat(Jain.index(7, 7, 7, 7)).isEqualTo(1);
		assertThat(Jain.index(0, 0, 9, 0)).isEqualTo(0.25);
		assertThat(Jain.index(1, 3)).isCloseTo(0.8, within(1e-9));
	}

	@Test
	void commandsInsideOfScriptsAreExecutedButNotSent() {
		CommandStats before = CommandStats.parse("cmdstat_evalsha:calls=10,usec=100,usec_per_call=10.00,", "");
		CommandStats after = CommandStats.parse("""
				cmdstat_evalsha:calls=30,usec=500,usec_per_call=10.00,rejected_calls=0,failed_calls=0
				cmdstat_set:calls=40,usec=60,usec_per_call=1.50,rejected_calls=0,failed_calls=0
				cmdstat_client|setinfo:calls=1,usec=2,usec_per_call=2.00,rejected_calls=0,failed_calls=0
				cmdstat_info:calls=7,usec=900,usec_per_call=100.00,rejected_calls=0,failed_calls=0
				""", "used_cpu_sys:1.5\r\nused_cpu_user:2.25\r\nused_cpu_sys_children:9.0\r\n");
		CommandStats difference = after.since(before);
		assertThat(difference.executed()).isEqualTo(20 + 40 + 1);
		assertThat(difference.sent(Set.of())).isEqualTo(new CommandStats.Command(21, 402));
		assertThat(difference.sent(Set.of("set"))).isEqualTo(new CommandStats.Command(61, 462));
		assertThat(difference.cpuSeconds()).isEqualTo(3.75);
	}

	@Test
	void ratiosComeFromRunsOfTheSameRepetition() {
		Summary slow = summary(AdapterKind.REDISSON, 100, 10, 50);
		Summary fast = summary(AdapterKind.LOCKSPRING, 300, 40, 100);
		assertThat(fast.rate()).isEqualTo(100);
		assertThat(fast.ratioTo(slow)).isEqualTo(3);
		assertThat(slow.ratioTo(slow)).isEqualTo(1);
	}

	@Test
	void theBestPeerIsNeitherTheFloorNorOursNorOneThatDoesNotCompareTheOwner() {
		Summary expected = summary(AdapterKind.SPRING_INTEGRATION_SPIN, 30);
		assertThat(Report.bestPeer(List.of(summary(AdapterKind.FLOOR, 90), summary(AdapterKind.LOCKSPRING, 80),
				summary(AdapterKind.REDISSON, 20), expected, summary(AdapterKind.SHEDLOCK, 70),
				summary(AdapterKind.LOCK4J, 10))))
			.isSameAs(expected);
		assertThat(Report.bestPeer(List.of(summary(AdapterKind.FLOOR, 90)))).isNull();
	}

	@Test
	void theTableSaysRateAndRatio() {
		Options options = Options.parse("--scenarios", "hot-4x1", "--adapters", "lockspring,redisson,shedlock");
		Report report = new Report(new Machine(Map.of()), options);
		List<Measurement> runs = List.of(run(AdapterKind.LOCKSPRING, 1, 3000), run(AdapterKind.REDISSON, 1, 1200));
		assertThat(report.table(HOT, runs)).contains("| lockspring | 3,000 |  | 2.50 |")
			.contains("| redisson | 1,200 |  | 1.00 |")
			.contains("Cannot do this, or is not made for it: shedlock.");
	}

	@Test
	void anAnswerSurvivesItsLine() {
		Histogram waits = Answer.newHistogram();
		waits.recordValue(1_000_000);
		Answer answer = new Answer(5, 1, 2, 3, new long[] { 4, 0 }, waits, "a: b, c");
		Answer copy = Answer.parse(answer.line());
		assertThat(copy).usingRecursiveComparison().ignoringFields("waits").isEqualTo(answer);
		assertThat(copy.waits()).isEqualTo(waits);
	}

	private static Summary summary(AdapterKind adapter, long... rates) {
		List<Measurement> runs = new ArrayList<>();
		for (long rate : rates) {
			runs.add(run(adapter, runs.size() + 1, rate));
		}
		return new Summary(adapter, runs);
	}

	private static Measurement run(AdapterKind adapter, int repetition, long rate) {
		Answer answer = new Answer(rate, 0, 0, 0, new long[] { rate }, Answer.newHistogram(), "");
		return new Measurement(HOT, adapter, repetition, 1, List.of(answer), rate, new CommandStats(Map.of(), 0), 0);
	}

}
