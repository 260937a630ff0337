package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import org.jspecify.annotations.Nullable;

/**
 * Keeps leases alive, proves that they are, and reads keys along with it. Thread-safe.
 */
/*
 * For maintainers: a leader that was replaced without noticing may renew a lease that its
 * successor lets expire, and servers have renewed leases that they were just revoking. So
 * the guard is read after the renewal: only a leader with a majority answers a read, and
 * if the term is still that of the renewal, it is the same leader. A server notes the
 * term before it renews.
 */
final class EtcdRenewal {

	/** The largest number of operations in a transaction, by default of the servers. */
	private static final int MAX_OPERATIONS = 128;

	/** The longest wait for a member before another one is asked, too. */
	static final Duration PATIENCE = Duration.ofSeconds(1);

	private static final GetOption KEY_ONLY = GetOption.builder().withKeysOnly(true).build();

	private final EtcdMembers members;

	private final LongSupplier clock;

	private final Consumer<EtcdLease> lost;

	/**
	 * @param lost called with a lease that is gone
	 */
	EtcdRenewal(EtcdMembers members, LongSupplier clock, Consumer<EtcdLease> lost) {
		this.members = members;
		this.clock = clock;
		this.lost = lost;
	}

	/**
	 * Keeps leases alive, and then reads keys.
	 * @return the keys in the order of the names; null for each that is not there. Fails
	 * if a read has no result
	 */
	CompletionStage<List<@Nullable KeyValue>> renew(List<EtcdLease> leases, List<ByteSequence> names) {
		List<CompletableFuture<@Nullable Renewed>> renewals = leases.stream().map(this::keepAlive).toList();
		return CompletableFuture.allOf(renewals.toArray(new CompletableFuture<?>[0]))
			.thenCompose((done) -> read(leases,
					renewals.stream().<@Nullable Renewed>map(CompletableFuture::join).toList(), names));
	}

	/** Renews a lease; without an answer, nothing is proven. */
	private CompletableFuture<@Nullable Renewed> keepAlive(EtcdLease lease) {
		return this.members.sendRepeatable((client) -> {
			long sent = this.clock.getAsLong();
			return client.getLeaseClient()
				.keepAliveOnce(lease.id())
				.thenApply((response) -> new Renewed(response.getHeader().getRaftTerm(), sent));
		}, patience(lease)).<@Nullable Renewed>handle((renewed, ex) -> {
			if (ex != null && EtcdErrors.isNoLease(ex)) {
				this.lost.accept(lease);
			}
			return renewed;
		}).toCompletableFuture();
	}

	private static Duration patience(EtcdLease lease) {
		return Collections.min(List.of(PATIENCE, Duration.ofMillis(lease.seconds() * 100)));
	}

	private CompletionStage<List<@Nullable KeyValue>> read(List<EtcdLease> leases, List<@Nullable Renewed> renewals,
			List<ByteSequence> names) {
		Duration patience = leases.stream().map(EtcdRenewal::patience).min(Comparator.naturalOrder()).orElse(PATIENCE);
		int size = MAX_OPERATIONS - leases.size();
		List<CompletableFuture<TxnResponse>> reads = new ArrayList<>();
		for (int i = 0; i == 0 || i < names.size(); i += size) {
			List<Op> operations = new ArrayList<>();
			leases.forEach((lease) -> operations.add(Op.get(lease.guard(), KEY_ONLY)));
			names.subList(i, Math.min(i + size, names.size()))
				.forEach((name) -> operations.add(Op.get(name, KEY_ONLY)));
			reads.add(this.members.read(operations, patience).thenApply((response) -> {
				prove(leases, renewals, response);
				return response;
			}).toCompletableFuture());
		}
		return CompletableFuture.allOf(reads.toArray(new CompletableFuture<?>[0])).thenApply((done) -> {
			List<@Nullable KeyValue> keys = new ArrayList<>();
			reads.forEach((read) -> read.join()
				.getGetResponses()
				.stream()
				.skip(leases.size())
				.forEach((found) -> keys.add(EtcdKeys.found(found))));
			return keys;
		});
	}

	private void prove(List<EtcdLease> leases, List<@Nullable Renewed> renewals, TxnResponse response) {
		for (int i = 0; i < leases.size(); i++) {
			EtcdLease lease = leases.get(i);
			Renewed renewed = renewals.get(i);
			if (!lease.noteGuard(EtcdKeys.found(response.getGetResponses().get(i)))) {
				this.lost.accept(lease);
			}
			else if (renewed != null && renewed.term() == response.getHeader().getRaftTerm()) {
				lease.proven(renewed.sent());
			}
		}
	}

	/**
	 * A renewal that was answered.
	 *
	 * @param term the term of the leader
	 * @param sent when it was sent
	 */
	private record Renewed(long term, long sent) {
	}

}
