package io.github.lockspring.etcd;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.github.lockspring.internal.queue.EntryServer.Renewal;
import io.github.lockspring.store.LockStore.RenewResult;
import org.jspecify.annotations.Nullable;

/**
 * Renews leases, several at a time, and verifies that their keys exist.
 */
/*
 * For maintainers: a leader that has been replaced without noticing may renew a lease
 * that its successor lets expire. So the keys are read after the renewal: only a leader
 * with a majority replies to a read, and if the term is still that of the renewal, it is
 * the same leader.
 */
final class LeaseRenewal {

	/** The number of concurrent requests, and of keys in one read. */
	private static final int AT_A_TIME = 32;

	private final EtcdConnection connection;

	LeaseRenewal(EtcdConnection connection) {
		this.connection = connection;
	}

	/**
	 * Renews leases.
	 * @param before writes to an entry before its renewal and returns whether the key
	 * exists; null if there is nothing to write
	 */
	CompletionStage<List<RenewResult>> renew(List<Renewal> renewals,
			Function<Renewal, @Nullable CompletionStage<Boolean>> before) {
		CompletionStage<List<RenewResult>> results = CompletableFuture.completedFuture(new ArrayList<>());
		for (int i = 0; i < renewals.size(); i += AT_A_TIME) {
			List<Renewal> some = renewals.subList(i, Math.min(i + AT_A_TIME, renewals.size()));
			results = results.thenCompose((earlier) -> renewSome(some, before).thenApply((later) -> {
				earlier.addAll(later);
				return earlier;
			}));
		}
		return results;
	}

	private CompletionStage<List<RenewResult>> renewSome(List<Renewal> some,
			Function<Renewal, @Nullable CompletionStage<Boolean>> before) {
		long sent = System.nanoTime();
		List<CompletableFuture<Long>> terms = new ArrayList<>();
		for (Renewal renewal : some) {
			CompletionStage<Boolean> written = before.apply(renewal);
			terms.add(((written != null) ? written : CompletableFuture.completedFuture(true))
				.thenCompose((there) -> there ? keepAlive((EtcdEntry.Mine) renewal.entry())
						: CompletableFuture.completedFuture(-1L))
				.exceptionally((ex) -> 0L)
				.toCompletableFuture());
		}
		return CompletableFuture.allOf(terms.toArray(new CompletableFuture<?>[0]))
			.thenCompose((done) -> verify(some, terms.stream().map(CompletableFuture::join).toList(), sent));
	}

	/** Returns the term of the renewal; -1 if there is no lease. */
	private CompletionStage<Long> keepAlive(EtcdEntry.Mine entry) {
		return EtcdErrors.ifNoLease(
				this.connection.send((client) -> client.getLeaseClient().keepAliveOnce(entry.lease()))
					.thenApply((response) -> (response.getTTL() > 0) ? response.getHeader().getRaftTerm() : -1L),
				() -> CompletableFuture.completedFuture(-1L));
	}

	private CompletionStage<List<RenewResult>> verify(List<Renewal> some, List<Long> terms, long sent) {
		GetOption keysOnly = GetOption.builder().withKeysOnly(true).build();
		Op[] reads = some.stream()
			.map((renewal) -> (Op) Op.get(((EtcdEntry.Mine) renewal.entry()).name(), keysOnly))
			.toArray(Op[]::new);
		return this.connection.send((client) -> client.getKVClient().txn().Then(reads).commit())
			.thenApply((response) -> {
				List<RenewResult> results = new ArrayList<>();
				for (int i = 0; i < some.size(); i++) {
					results.add(result((EtcdEntry.Mine) some.get(i).entry(), terms.get(i), response, i, sent));
				}
				return results;
			});
	}

	private static RenewResult result(EtcdEntry.Mine entry, long term, TxnResponse response, int index, long sent) {
		Optional<KeyValue> there = response.getGetResponses()
			.get(index)
			.getKvs()
			.stream()
			.filter((found) -> found.getCreateRevision() == entry.order())
			.findFirst();
		if (there.isEmpty() || term < 0) {
			return RenewResult.NOT_OWNER;
		}
		// a write without a result may have given the key another lease
		if (term != response.getHeader().getRaftTerm() || there.get().getLease() != entry.lease()) {
			return RenewResult.UNKNOWN;
		}
		entry.renewed(sent);
		return RenewResult.RENEWED;
	}

}
