package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Response;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to the members of a cluster, with a client for each. One member gets all
 * requests until it does not answer; then it is the next one's turn. Thread-safe.
 */
/*
 * For maintainers: a request that may have been carried out is never repeated here. Only
 * requests that anybody may repeat are sent through two members.
 *
 * After a restore from a backup, or with another cluster, what this process knows of the
 * servers is wrong. It shows in another cluster identifier, or in a smaller revision than
 * one that had been received before the request was sent. Only answers of transactions
 * count: those to renewals and watches may be old.
 */
final class EtcdMembers implements AutoCloseable {

	private final List<EtcdConnection> connections;

	private final AtomicInteger present;

	private final List<Runnable> changed = new CopyOnWriteArrayList<>();

	private final List<Runnable> replaced = new CopyOnWriteArrayList<>();

	/**
	 * The newest that was received; replaced under the monitor. An answer contradicts
	 * only what was received before its request was sent.
	 */
	private volatile Past past = new Past(0, 0, 0);

	/**
	 * @param connections a connection to each member
	 * @param first the index of the member that gets the first request
	 */
	EtcdMembers(List<EtcdConnection> connections, int first) {
		this.connections = connections;
		this.present = new AtomicInteger(first);
	}

	/** Adds a listener for changes of the member. */
	void onChange(Runnable listener) {
		this.changed.add(listener);
	}

	/** Adds a listener for data that was replaced. */
	void onReplacedData(Runnable listener) {
		this.replaced.add(listener);
	}

	/**
	 * Sends a request once.
	 * @return a stage that fails with {@link LockUnavailableException}; then the request
	 * may have been carried out, or may be later
	 */
	<T> CompletionStage<T> send(Function<Client, CompletableFuture<T>> request) {
		return send(request, this.connections.size());
	}

	/** A connection that was refused has carried nothing. */
	private <T> CompletionStage<T> send(Function<Client, CompletableFuture<T>> request, int attempts) {
		int member = this.present.get();
		return this.connections.get(member).send(request).exceptionallyCompose((ex) -> {
			if (EtcdErrors.isOfMember(ex)) {
				leave(member);
			}
			return (attempts > 1 && EtcdErrors.isRefused(ex)) ? send(request, attempts - 1)
					: CompletableFuture.failedFuture(ex);
		});
	}

	/**
	 * Sends a request that may be carried out several times. Without an answer it is also
	 * sent through the other members.
	 * @param patience how long to wait for a member before the next one is asked, too
	 * @return the first answer
	 */
	<T> CompletionStage<T> sendRepeatable(Function<Client, CompletableFuture<T>> request, Duration patience) {
		int first = this.present.get();
		Repeatable<T> sending = new Repeatable<>(request, first, patience);
		sending.send(first);
		return sending.answer;
	}

	private void move(int member, int next) {
		if (next != member && this.present.compareAndSet(member, next)) {
			this.changed.forEach(Runnable::run);
		}
	}

	private void leave(int member) {
		move(member, (member + 1) % this.connections.size());
	}

	/** Carries out operations if all comparisons are true, otherwise others. */
	CompletionStage<TxnResponse> transact(List<Cmp> comparisons, List<Op> then, List<Op> otherwise) {
		Past before = this.past;
		return send((client) -> transaction(client, comparisons, then, otherwise))
			.whenComplete((response, ex) -> compare(before, response));
	}

	/** Reads keys in one transaction. */
	CompletionStage<TxnResponse> read(List<Op> reads, Duration patience) {
		Past before = this.past;
		return sendRepeatable((client) -> transaction(client, List.of(), reads, List.of()), patience)
			.whenComplete((response, ex) -> compare(before, response));
	}

	private static CompletableFuture<TxnResponse> transaction(Client client, List<Cmp> comparisons, List<Op> then,
			List<Op> otherwise) {
		return client.getKVClient()
			.txn()
			.If(comparisons.toArray(Cmp[]::new))
			.Then(then.toArray(Op[]::new))
			.Else(otherwise.toArray(Op[]::new))
			.commit();
	}

	private void compare(Past before, @Nullable Response response) {
		if (response == null) {
			return;
		}
		Response.Header header = response.getHeader();
		boolean other;
		synchronized (this) {
			// what was sent before others noticed tells nothing new
			other = before.isContradictedBy(header) && before.count() == this.past.count();
			this.past = other ? new Past(this.past.count() + 1, header.getClusterId(), header.getRevision())
					: this.past.with(before, header);
		}
		if (other) {
			this.replaced.forEach(Runnable::run);
		}
	}

	/** Watches a key, see {@link EtcdConnection#watch}. */
	CompletionStage<Runnable> watch(ByteSequence name, Runnable gone) {
		int member = this.present.get();
		return this.connections.get(member).watch(name, gone).whenComplete((end, ex) -> {
			if (ex != null && EtcdErrors.isOfMember(ex)) {
				leave(member);
			}
		});
	}

	@Override
	public void close() {
		this.connections.forEach(EtcdConnection::close);
	}

	/**
	 * What was received.
	 *
	 * @param count how often the data was replaced
	 * @param cluster the identifier of the cluster; 0 if none was received
	 * @param revision the largest revision
	 */
	private record Past(long count, long cluster, long revision) {

		boolean isContradictedBy(Response.Header header) {
			return this.cluster != 0 && (header.getClusterId() != this.cluster || header.getRevision() < this.revision);
		}

		Past with(Past sentAfter, Response.Header header) {
			boolean same = sentAfter.count() == this.count;
			return (same && header.getRevision() > this.revision)
					? new Past(this.count, header.getClusterId(), header.getRevision()) : this;
		}

	}

	/**
	 * A request on its way through one or more members.
	 */
	private final class Repeatable<T> {

		private final Function<Client, CompletableFuture<T>> request;

		private final Duration patience;

		private final CompletableFuture<T> answer = new CompletableFuture<>();

		private final int first;

		private final Set<Integer> asked = new HashSet<>();

		private int pending;

		Repeatable(Function<Client, CompletableFuture<T>> request, int first, Duration patience) {
			this.first = first;
			this.request = request;
			this.patience = patience;
		}

		void send(int member) {
			synchronized (this.asked) {
				if (this.answer.isDone() || !this.asked.add(member)) {
					return;
				}
				this.pending++;
			}
			int next = (member + 1) % EtcdMembers.this.connections.size();
			EtcdMembers.this.connections.get(member).send(this.request).whenComplete((value, ex) -> {
				if (ex == null) {
					answered(member, value);
				}
				else {
					failed(member, next, ex);
				}
			});
			if (next != member) {
				sendLater(next);
			}
		}

		private void sendLater(int member) {
			CompletableFuture<Boolean> silence = new CompletableFuture<Boolean>().completeOnTimeout(true,
					this.patience.toNanos(), TimeUnit.NANOSECONDS);
			silence.thenRun(() -> send(member));
			this.answer.whenComplete((value, ex) -> silence.cancel(false));
		}

		private void answered(int member, T value) {
			if (this.answer.complete(value)) {
				move(this.first, member);
			}
		}

		private void failed(int member, int next, Throwable failure) {
			if (!EtcdErrors.isOfMember(failure)) {
				this.answer.completeExceptionally(failure);
				return;
			}
			move(member, next);
			send(next);
			boolean last;
			synchronized (this.asked) {
				last = --this.pending == 0;
			}
			if (last) {
				this.answer.completeExceptionally(failure);
			}
		}

	}

}
