package io.github.lockspring.testsupport.history;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.lockspring.testsupport.history.HistoryChecker.DataLoss;
import io.github.lockspring.testsupport.history.HistoryChecker.Kind;
import io.github.lockspring.testsupport.history.HistoryChecker.Violation;
import io.github.lockspring.testsupport.history.RecordedEvents.Acquisition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The checker finds what is wrong in wrong histories and nothing in right ones. A history
 * has holds (worker, token, asked, granted, until), acquisitions (worker, token, asked,
 * acquired, lease) and losses of all data (from, to), with times in milliseconds. The
 * lease of a hold is 400.
 */
class HistoryCheckerTests {

	private final List<RecordedHold> holds = new ArrayList<>();

	private final List<Acquisition> acquisitions = new ArrayList<>();

	private final List<DataLoss> losses = new ArrayList<>();

	@ParameterizedTest(name = "{0}")
	@CsvSource(delimiter = '|', textBlock = """
			holders one after the other            | a 1000 0 10 20, b 2000 5 25 40, a 3000 30 45 50
			paused and never sure of its lock      | a 1000 0 500 499, b 500000 410 420 600
			holder of another key                  | a 1000 0 10 30, b 900 0 10 30 other
			overlap after a loss of data           | a 1000 0 10 300, loss 100 110, b 120000 115 120 200
			handed off unaware of a loss           | acquired a 1000 0 10 400, a 1000 0 10 130, loss 100 110, \
			b 120000 115 120 140, a 1001 125 135 300, a 1002 145 305 310, acquired b 500000 315 319 400, \
			b 500000 150 320 330
			unaware, first caller never a holder   | acquired a 1000 0 10 400, loss 100 110, b 120000 115 120 140, \
			a 1001 125 145 300
			unaware, lease longer than its hold    | acquired a 1000 0 10 800, loss 100 110, b 120000 115 120 140, \
			a 1001 125 130 910
			""")
	void nothingIsFoundInARightHistory(String name, String history) {
		read(history);
		assertThat(violations()).isEmpty();
	}

	/** What is found: the kind of the violation, and the numbers of two holds from 0. */
	@ParameterizedTest(name = "{0}")
	@CsvSource(delimiter = '|',
			textBlock = """
					overlap                            | a 1000 0 10 30, b 2000 5 25 40                     | OVERLAP 0 1
					overlap within a worker            | a 1000 0 10 30, a 1001 5 29 40                     | OVERLAP 0 1
					nested hold                        | a 1000 0 10 100, b 2000 20 30 40                   | OVERLAP 0 1
					overlap behind another hold        | a 1000 0 10 100, b 2000 20 30 40, c 3000 50 60 70  | OVERLAP 0 1, OVERLAP 0 2
					moment of validity inside a hold   | a 1000 0 10 100, b 2000 20 30 30                   | OVERLAP 0 1
					equal token                        | a 1000 0 10 20, b 1000 25 30 40                    | TOKEN_USED_TWICE 0 1, TOKEN_NOT_GROWING 0 1
					token going back                   | a 2000 0 10 20, b 1000 5 30 40                     | TOKEN_NOT_GROWING 0 1
					token going back within a worker   | a 1001 0 10 20, a 1000 5 30 40                     | TOKEN_NOT_GROWING 0 1
					token going back long after        | a 5000 0 10 20, b 3000 5 30 40, c 4000 35 50 60    | TOKEN_NOT_GROWING 0 1, TOKEN_NOT_GROWING 0 2
					asked after one never sure         | a 2000 0 10 9, b 1000 15 20 30                     | TOKEN_NOT_GROWING 0 1
					token out of range                 | a 0 0 10 20                                        | TOKEN_OUT_OF_RANGE 0 0
					shortest counter-example first     | a 1000 0 0 500, b 2000 0 400 900, a 3000 1000 1000 1003, b 4000 1000 1002 1004, \
					c 5000 1100 1100 1200, b 6000 1100 1190 1300 | OVERLAP 2 3, OVERLAP 4 5, OVERLAP 0 1
					overlap before a loss              | a 1000 0 10 300, b 2000 15 20 200, loss 250 260         | OVERLAP 0 1
					overlap of two after a loss        | loss 100 110, a 120000 111 120 300, b 130000 125 130 200 | OVERLAP 0 1
					more than a lease after a loss     | a 1000 0 10 511, loss 100 110, b 120000 115 120 200     | OVERLAP 0 1
					token that restarts after a loss   | a 1000 0 10 300, loss 100 110, b 1 115 120 200          | TOKEN_NOT_GROWING 0 1
					token that restarts long after     | a 1000 0 10 50, loss 100 110, b 1 115 120 200           | TOKEN_NOT_GROWING 0 1
					handed off above its successor     | acquired a 1000 0 10 400, a 1000 0 10 130, loss 100 110, \
					b 1001 115 120 140, a 1002 125 135 300 | TOKEN_NOT_GROWING 2 1
					token of an ownership after a loss | loss 100 110, b 120000 115 120 130, acquired a 1000 125 135 400, \
					a 1001 124 145 300 | TOKEN_NOT_GROWING 0 1
					ownership that began anew          | a 1000 0 10 105, loss 100 110, b 120000 115 120 140, \
					a 130000 125 135 300 | OVERLAP 1 2
					""")
	void whatIsWrongIsFound(String name, String history, String found) {
		read(history);
		assertThat(violations()).containsExactlyElementsOf(Stream.of(found.split(", ")).map(this::violation).toList());
	}

	@Test
	void claimsAreReadAsTheyWereWritten() {
		RecordedEvents events = new RecordedEvents();
		events.add("a", """
				A k 1000 1 2 400
				B 1 k 1000 1 2 400 402
				C busy
				V 1 500
				B 2 k 2000 3 4 400 404
				L 1 900
				R 1 450
				V 1 480
				E 1 470
				V 1 600
				X 1 released
				F odd
				V 2 77""");
		assertThat(events.holds()).containsExactly(new RecordedHold("a", 1, "k", 1000, 1, 2, 900, 470),
				new RecordedHold("a", 2, "k", 2000, 3, 4, 400, 404));
		assertThat(events.acquisitions()).containsExactly(new Acquisition("a", "k", 1000, 1, 2, 400));
		assertThat(events.counts()).containsEntry("busy", 1).containsEntry("released", 1).hasSize(2);
		assertThat(events.faults()).containsExactly("a: odd");
	}

	private List<Violation> violations() {
		return HistoryChecker.check(this.holds, this.acquisitions, this.losses);
	}

	private Violation violation(String text) {
		String[] words = text.split(" ");
		return new Violation(Kind.valueOf(words[0]), this.holds.get(Integer.parseInt(words[1])),
				this.holds.get(Integer.parseInt(words[2])));
	}

	private void read(String history) {
		for (String entry : history.split(", ")) {
			String[] words = entry.split(" ");
			switch (words[0]) {
				case "loss" -> this.losses.add(new DataLoss(ms(words[1]), ms(words[2])));
				case "acquired" -> this.acquisitions.add(new Acquisition(words[1], "k", Long.parseLong(words[2]),
						ms(words[3]), ms(words[4]), ms(words[5])));
				default ->
					this.holds.add(new RecordedHold(words[0], this.holds.size(), (words.length > 5) ? words[5] : "k",
							Long.parseLong(words[1]), ms(words[2]), ms(words[3]), ms("400"), ms(words[4])));
			}
		}
	}

	private static long ms(String time) {
		return Long.parseLong(time) * 1_000_000;
	}

}
