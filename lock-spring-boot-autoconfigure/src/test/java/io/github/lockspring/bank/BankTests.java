package io.github.lockspring.bank;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.lockspring.bank.Audit.Books;
import io.github.lockspring.bank.Round.Harm;
import io.github.lockspring.bank.Round.Moment;
import io.github.lockspring.internal.transaction.Verification;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.process.RunDirectory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.util.function.SingletonSupplier;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Money is moved between a few accounts by several processes, each transfer under the
 * locks of both accounts, while processes are stopped for longer than their leases last
 * and Redis loses its data. A few rounds by default; a thousand of each with
 * {@code mvn -Pbank -pl lock-spring-boot-autoconfigure -am test}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 3, unit = TimeUnit.HOURS)
class BankTests {

	/** How many rounds are played of each kind, at least one of each plan; 0: a few. */
	private static final int ROUNDS = Integer.getInteger("bank.rounds", 0);

	private static final long SEED = Long.getLong("bank.seed", System.nanoTime());

	private static final int WORKERS = 3;

	private static final int THREADS = 2;

	private static final int ACCOUNTS = 5;

	private static final long INITIAL = 1000;

	/** Without fencing, money is lost long before. */
	private static final int MOST_ROUNDS_UNTIL_LOSS = 25;

	/** What a few rounds are made of; the first ones show all that matters. */
	private static final List<Plan> FEW = List.of(new Plan(Moment.BEFORE_TRANSACTION, Harm.STOPPED),
			new Plan(Moment.IN_SECTION, Harm.STOPPED), new Plan(Moment.BEFORE_TRANSACTION, Harm.RESTARTED),
			new Plan(Moment.IN_SECTION, Harm.FLUSHED), new Plan(Moment.ANYWHERE, Harm.STOPPED),
			new Plan(Moment.IN_SECTION, Harm.STOPPED_AND_FLUSHED));

	private Branches branches;

	@BeforeAll
	void start() throws Exception {
		System.out.println("Bank with seed " + SEED);
		Path directory = RunDirectory.of("bank");
		this.branches = new Branches(directory, WORKERS, THREADS, ACCOUNTS, SEED);
	}

	@AfterEach
	void rest() {
		this.branches.free();
		this.branches.rest();
	}

	@AfterAll
	void stop() {
		this.branches.close();
	}

	@ParameterizedTest
	@EnumSource
	@Tag("pause-fixed-renewed")
	void withoutFencingMoneyIsMadeOrLost(BankDatabase database) throws Exception {
		Figures figures = new Figures(database + ", neither fencing nor commit guard");
		Audit audit = new Audit(database.dataSource(), ACCOUNTS, INITIAL);
		List<Plan> plans = new ArrayList<>();
		Books books = audit.check();
		while (figures.rounds() < MOST_ROUNDS_UNTIL_LOSS && books.made() == 0) {
			this.branches.run(database.place(), Verification.OFF, false);
			figures.add(next(plans, FEW).play(this.branches, audit, false));
			figures.add(this.branches.rest());
			books = audit.check();
		}
		print(audit, figures, books);
		assertThat(books.made()).as("money is made or lost within %d rounds", MOST_ROUNDS_UNTIL_LOSS).isNotZero();
	}

	@ParameterizedTest
	@EnumSource
	@Tag("data-loss-fencing")
	@Tag("no-late-writer")
	@Tag("pause-fencing")
	void fencingAloneKeepsEachAccountRight(BankDatabase database) throws Exception {
		Figures figures = new Figures(database + ", fencing alone");
		keepsEachAccountRight(database, Verification.OFF, FEW, figures);
		assertThat(figures.committedAfterALoss()).as("commits after a loss of the lock, before anybody else's token")
			.isPositive();
	}

	@ParameterizedTest
	@EnumSource
	@Tag("pause-fencing")
	void fencingAndTheCommitGuardKeepEachAccountRight(BankDatabase database) throws Exception {
		Figures figures = new Figures(database + ", fencing and commit guard");
		keepsEachAccountRight(database, Verification.LOCAL, FEW.subList(0, 3), figures);
		assertThat(figures.count(Outcome.LOST_BEFORE_COMMIT)).isPositive();
	}

	private void keepsEachAccountRight(BankDatabase database, Verification verification, List<Plan> few,
			Figures figures) throws Exception {
		Audit audit = begin(database, verification, true);
		List<Plan> plans = new ArrayList<>();
		int rounds = (ROUNDS > 0) ? Math.max(ROUNDS, Plan.all().size()) : few.size();
		while (figures.rounds() < rounds) {
			Round round = next(plans, few).play(this.branches, audit, true);
			figures.add(round);
			assertThat(audit.check()).as("books after round %d, %s", figures.rounds(), round).matches(Books::areRight);
			assertIsFenced(round);
		}
		assertThat(end(audit, figures)).matches(Books::areRight);
		assertThat(figures.count(Outcome.STALE)).isPositive();
		assertThat(figures.count(Outcome.COMMITTED)).isPositive();
	}

	private static void assertIsFenced(Round round) {
		if (round.moment() == Moment.IN_SECTION) {
			assertThat(round.overtaken()).as("no transaction gets past the row that another one has locked: %s", round)
				.isFalse();
		}
		else if (round.overtaken()) {
			assertThat(round.outcome()).as("who was overtaken is refused").isEqualTo(Outcome.STALE);
		}
	}

	@ParameterizedTest
	@EnumSource
	@Tag("pause-guard-remote")
	void f09TransactionOfAStoppedHolderDoesNotCommit(BankDatabase database) throws Exception {
		Figures figures = new Figures(database + ", commit guard alone, holder stopped");
		Audit audit = begin(database, Verification.LOCAL, false);
		Round round;
		do {
			round = new Plan(Moment.IN_SECTION, Harm.STOPPED).play(this.branches, audit, false);
			figures.add(round);
			assertThat(round.overtaken()).isTrue();
			assertThat(round.outcome()).matches((outcome) -> !outcome.isCommitted());
		}
		// on a busy machine the database may give up before the guard is asked
		while (round.outcome() == Outcome.DATABASE && figures.rounds() < MOST_ROUNDS_UNTIL_LOSS);
		end(audit, figures);
		assertThat(round.outcome()).isEqualTo(Outcome.LOST_BEFORE_COMMIT);
	}

	/** How far one gets with the commit guard alone: a figure, and no promise. */
	@ParameterizedTest
	@EnumSource(names = { "LOCAL", "REMOTE" })
	@EnabledIfSystemProperty(named = "bank.rounds", matches = "[1-9]\\d*")
	void commitGuardAlone(Verification verification) throws Exception {
		for (BankDatabase database : BankDatabase.values()) {
			Figures figures = new Figures(database + ", commit guard alone, " + verification);
			Audit audit = begin(database, verification, false);
			List<Plan> plans = new ArrayList<>();
			Map<String, Integer> wrongAfter = new TreeMap<>();
			Books books = audit.check();
			while (figures.rounds() < Math.max(1, ROUNDS / 5)) {
				Round round = next(plans, FEW).play(this.branches, audit, false);
				figures.add(round);
				Books before = books;
				books = audit.check();
				if (!books.equals(before)) {
					wrongAfter.merge(round.kind(), 1, Integer::sum);
				}
			}
			figures.note("they went wrong, or more wrong, in " + wrongAfter);
			end(audit, figures);
		}
	}

	private Audit begin(BankDatabase database, Verification verification, boolean fenced) {
		Audit audit = new Audit(database.dataSource(), ACCOUNTS, INITIAL);
		this.branches.run(database.place(), verification, fenced);
		return audit;
	}

	/** All come to rest, and the books are read for the last time. */
	private Books end(Audit audit, Figures figures) {
		figures.add(this.branches.rest());
		Books books = audit.check();
		print(audit, figures, books);
		return books;
	}

	private static void print(Audit audit, Figures figures, Books books) {
		figures.print(audit, books);
		assertThat(figures.committed()).as("each committed transfer is in the ledger, once")
			.isEqualTo(audit.transfers());
	}

	/** As from a pack of cards, so that each has its turn. */
	private Plan next(List<Plan> plans, List<Plan> few) {
		if (plans.isEmpty()) {
			plans.addAll((ROUNDS > 0) ? Plan.all() : few);
		}
		return plans.remove(this.branches.random().nextInt(plans.size()));
	}

	/**
	 * What is to happen in a round.
	 *
	 * @param moment when
	 * @param harm what
	 */
	private record Plan(Moment moment, Harm harm) {

		static List<Plan> all() {
			List<Plan> plans = new ArrayList<>();
			for (Moment moment : Moment.values()) {
				for (Harm harm : Harm.values()) {
					plans.add(new Plan(moment, harm));
				}
			}
			return plans;
		}

		Round play(Branches branches, Audit audit, boolean fenced) throws InterruptedException {
			// who is past the comparison of tokens cannot be overtaken
			return branches.round(this.moment, this.harm, audit, !fenced || this.moment != Moment.IN_SECTION);
		}

	}

	/**
	 * The databases that a bank can have, each with its table of fencing tokens.
	 */
	enum BankDatabase {

		H2(Databases::h2Server),

		POSTGRESQL(Databases::postgres);

		private final Supplier<Database> database;

		private final Supplier<DataSource> dataSource;

		BankDatabase(Supplier<Database> maker) {
			this.database = SingletonSupplier.of(() -> maker.get().withFencingTokens());
			this.dataSource = SingletonSupplier.of(() -> {
				Database created = this.database.get();
				return new SingleConnectionDataSource(created.url(), created.user(), created.password(), true);
			});
		}

		/** Where the workers find it, for a conversation. */
		String place() {
			return this.database.get().url() + " " + this.database.get().user();
		}

		/** The auditor's own connection. */
		DataSource dataSource() {
			return this.dataSource.get();
		}

	}

}
