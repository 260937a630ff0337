package io.github.lockspring.bank;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

import io.github.lockspring.bank.BankApplication.Checkpoint;
import io.github.lockspring.bank.BankApplication.Transfer.Step;
import io.github.lockspring.bank.BankApplication.Transfer;
import io.github.lockspring.bank.BankApplication.TransferService;
import io.github.lockspring.bank.Round.Moment;
import io.github.lockspring.internal.transaction.Verification;
import io.github.lockspring.testsupport.process.Conversation;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * A process of the bank: an instance of an application, with threads that move money
 * until they are told to rest.
 */
final class BankWorker {

	/** What the test says, with what it names after it; RUN and REST are answered. */
	static final String RUN = "run";

	static final String REST = "rest";

	static final String DETAIN = "detain";

	static final String FREE = "free";

	/** What the worker says. */
	static final String RUNNING = "running";

	static final String RESTED = "rested";

	/** How the transfer ended that was detained. */
	static final String ENDED = "ended";

	private static final long BREATH = 5_000_000;

	private static final int LARGEST_AMOUNT = 100;

	private final String name;

	private final int redis;

	private final int accounts;

	private final int threads;

	private final String ttl;

	private final SplittableRandom random;

	private final Conversation test = new Conversation();

	private final Checkpoint checkpoint = new Checkpoint(this.test);

	private final Map<String, ConfigurableApplicationContext> contexts = new HashMap<>();

	private final List<Thread> tellers = new ArrayList<>();

	private final Map<Outcome, Integer> counts = new ConcurrentHashMap<>();

	private volatile boolean running;

	private int shift;

	private BankWorker(String[] args) {
		this.name = args[0];
		this.redis = Integer.parseInt(args[1]);
		this.accounts = Integer.parseInt(args[2]);
		this.threads = Integer.parseInt(args[3]);
		this.ttl = args[4];
		this.random = new SplittableRandom(Long.parseLong(args[5]));
	}

	/**
	 * Runs a worker.
	 * @param args name, port of Redis, number of accounts, number of threads, ttl, seed
	 */
	public static void main(String[] args) throws Exception {
		// logs go where the logging system's own file says: not to the conversation
		System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
		new BankWorker(args).converse();
	}

	private void converse() throws InterruptedException {
		while (true) {
			String[] words = this.test.hear().split(" ");
			switch (words[0]) {
				case RUN -> {
					run(context(words[1], words[2], Verification.valueOf(words[3])), Boolean.parseBoolean(words[4]));
					this.test.say(RUNNING);
				}
				case REST -> this.test.say(RESTED + " " + rest());
				case DETAIN -> this.checkpoint.detain(Moment.valueOf(words[1]));
				case FREE -> this.checkpoint.free();
				default -> throw new IllegalArgumentException(words[0]);
			}
		}
	}

	private ConfigurableApplicationContext context(String database, String user, Verification verification) {
		return this.contexts
			.computeIfAbsent(database + verification, (key) -> new SpringApplicationBuilder(BankApplication.class)
				.web(WebApplicationType.NONE)
				.bannerMode(Banner.Mode.OFF)
				.logStartupInfo(false)
				.registerShutdownHook(false)
				.initializers((context) -> context.getBeanFactory().registerSingleton("checkpoint", this.checkpoint))
				.properties("spring.datasource.url=" + database, "spring.datasource.username=" + user,
						"spring.datasource.hikari.maximum-pool-size=" + this.threads,
						"spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + this.redis,
						"distributed-lock.store=redis", "distributed-lock.wait-time=3s",
						"spring.lifecycle.timeout-per-shutdown-phase=1s",
						"distributed-lock.transaction.verify-before-commit=" + verification, "bank.ttl=" + this.ttl)
				.run());
	}

	private void run(ConfigurableApplicationContext context, boolean fenced) {
		TransferService service = context.getBean(TransferService.class);
		this.counts.clear();
		this.running = true;
		this.shift++;
		for (int i = 0; i < this.threads; i++) {
			String prefix = this.name + "." + this.shift + "." + i + ".";
			SplittableRandom own = this.random.split();
			Thread teller = new Thread(() -> work(service, fenced, prefix, own), "teller-" + i);
			this.tellers.add(teller);
			teller.start();
		}
	}

	private void work(TransferService service, boolean fenced, String prefix, SplittableRandom random) {
		for (int number = 1; this.running; number++) {
			int source = random.nextInt(this.accounts);
			int target = (source + 1 + random.nextInt(this.accounts - 1)) % this.accounts;
			Transfer transfer = new Transfer(prefix + number, source, target, 1 + random.nextInt(LARGEST_AMOUNT));
			Outcome outcome = attempt(service, fenced, transfer);
			this.counts.merge(outcome, 1, Integer::sum);
			if (transfer.has(Step.DETAINED)) {
				this.test.say(ENDED + " " + outcome);
			}
			if (!outcome.isCommitted()) {
				// while Redis is away there is no point in asking without a pause
				LockSupport.parkNanos(BREATH);
			}
		}
	}

	private static Outcome attempt(TransferService service, boolean fenced, Transfer transfer) {
		Exception failure = null;
		try {
			if (fenced) {
				service.transferFenced(transfer);
			}
			else {
				service.transfer(transfer);
			}
		}
		catch (Exception ex) {
			failure = ex;
		}
		Outcome outcome = Outcome.of(transfer, failure);
		if (outcome == Outcome.UNEXPECTED) {
			new IllegalStateException(transfer.toString(), failure).printStackTrace();
			Runtime.getRuntime().halt(1);
		}
		return outcome;
	}

	private String rest() throws InterruptedException {
		this.running = false;
		for (Thread teller : this.tellers) {
			teller.join();
		}
		this.tellers.clear();
		return Outcome.text(new TreeMap<>(this.counts));
	}

}
