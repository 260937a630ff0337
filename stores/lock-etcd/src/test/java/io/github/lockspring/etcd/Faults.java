package io.github.lockspring.etcd;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

import io.etcd.jetcd.api.Compare.CompareTarget;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/**
 * Faults on the way to a server and back: requests that are carried out late, and answers
 * that are late, lost or others. Thread-safe.
 */
final class Faults implements ClientInterceptor {

	/** Whether a request adds an entry. */
	static final Predicate<Object> ADDITION = (request) -> request instanceof TxnRequest transaction
			&& transaction.getCompareCount() == 2 && transaction.getCompare(0).getCreateRevision() == 0
			&& transaction.getCompare(1).getTarget() == CompareTarget.MOD;

	/** Whether a request removes an entry. */
	static final Predicate<Object> REMOVAL = (request) -> request instanceof TxnRequest transaction
			&& transaction.getSuccessCount() > 0 && transaction.getSuccess(0).hasRequestDeleteRange();

	/** Whether a request compares the revision of the creation of its entry. */
	static Predicate<Object> about(long revision) {
		return (request) -> request instanceof TxnRequest transaction
				&& transaction.getCompare(0).getCreateRevision() == revision;
	}

	/** Whether a request moves an entry to a longer lease. */
	static final Predicate<Object> RAISE = (request) -> request instanceof TxnRequest transaction
			&& transaction.getCompareCount() == 2 && transaction.getCompare(0).getCreateRevision() > 0;

	/** Whether a request keeps an entry. */
	static final Predicate<Object> KEEP = (request) -> request instanceof TxnRequest transaction
			&& transaction.getCompareCount() == 1 && transaction.getSuccess(0).hasRequestPut();

	/** Whether a request only reads. */
	static final Predicate<Object> READ = (request) -> request instanceof TxnRequest transaction
			&& transaction.getCompareCount() == 0
			&& transaction.getSuccessList().stream().allMatch(RequestOp::hasRequestRange);

	private final Deque<Fault> faults = new ConcurrentLinkedDeque<>();

	private final List<Runnable> held = new CopyOnWriteArrayList<>();

	private final List<Object> sent = new CopyOnWriteArrayList<>();

	private volatile @Nullable UnaryOperator<Object> answers;

	/** The next such request is held back. */
	void holdRequest(Predicate<Object> which) {
		this.faults.add(new Fault(which, Kind.REQUEST_HELD));
	}

	/** The next such request is carried out, and its answer is held back. */
	void holdAnswer(Predicate<Object> which) {
		this.faults.add(new Fault(which, Kind.ANSWER_HELD));
	}

	/** The next such request is carried out, and its connection breaks. */
	void breakAfter(Predicate<Object> which) {
		this.faults.add(new Fault(which, Kind.BROKEN_AFTER));
	}

	/** The next such request is refused for good. */
	void refuse(Predicate<Object> which) {
		this.faults.add(new Fault(which, Kind.REFUSED));
	}

	/** Changes answers from now on; null ends it. */
	void changeAnswers(@Nullable UnaryOperator<Object> change) {
		this.answers = change;
	}

	/** Lets everything pass that is held back. */
	void release() {
		List<Runnable> all = new ArrayList<>(this.held);
		this.held.clear();
		all.forEach(Runnable::run);
	}

	int held() {
		return this.held.size();
	}

	/** Counts the requests that were sent. */
	long sent(Predicate<Object> which) {
		return this.sent.stream().filter(which).count();
	}

	private @Nullable Kind take(Object request) {
		for (Fault fault : this.faults) {
			if (fault.which().test(request) && this.faults.remove(fault)) {
				return fault.kind();
			}
		}
		return null;
	}

	@Override
	public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
		return new FaultyCall<>(next.newCall(method, options));
	}

	private enum Kind {

		REQUEST_HELD, ANSWER_HELD, BROKEN_AFTER, REFUSED

	}

	private record Fault(Predicate<Object> which, Kind kind) {
	}

	private final class FaultyCall<Q, R> extends SimpleForwardingClientCall<Q, R> {

		private final Deque<Runnable> waiting = new ArrayDeque<>();

		private volatile @Nullable Kind kind;

		FaultyCall(ClientCall<Q, R> delegate) {
			super(delegate);
		}

		@Override
		public void start(Listener<R> listener, Metadata headers) {
			super.start(new FaultyListener<>(this, listener), headers);
		}

		@Override
		public void sendMessage(Q message) {
			Faults.this.sent.add(message);
			Kind fault = take(message);
			if (fault != null) {
				this.kind = fault;
			}
			if (fault == Kind.REQUEST_HELD) {
				Faults.this.held.add(this::sendHeld);
				this.waiting.add(() -> super.sendMessage(message));
				return;
			}
			if (fault == Kind.REFUSED) {
				super.cancel("refused", null);
				return;
			}
			super.sendMessage(message);
		}

		@Override
		public void halfClose() {
			if (this.kind == Kind.REQUEST_HELD) {
				this.waiting.add(super::halfClose);
				return;
			}
			if (this.kind != Kind.REFUSED) {
				super.halfClose();
			}
		}

		private void sendHeld() {
			this.waiting.forEach(Runnable::run);
		}

	}

	private final class FaultyListener<R> extends SimpleForwardingClientCallListener<R> {

		private final FaultyCall<?, R> call;

		FaultyListener(FaultyCall<?, R> call, ClientCall.Listener<R> delegate) {
			super(delegate);
			this.call = call;
		}

		@Override
		@SuppressWarnings("unchecked")
		public void onMessage(R message) {
			UnaryOperator<Object> change = Faults.this.answers;
			R answer = (change != null) ? (R) change.apply(message) : message;
			if (this.call.kind == Kind.ANSWER_HELD) {
				Faults.this.held.add(() -> super.onMessage(answer));
			}
			else if (this.call.kind != Kind.BROKEN_AFTER) {
				super.onMessage(answer);
			}
		}

		@Override
		public void onClose(Status status, Metadata trailers) {
			if (this.call.kind == Kind.ANSWER_HELD) {
				Faults.this.held.add(() -> super.onClose(status, trailers));
			}
			else if (this.call.kind == Kind.REFUSED) {
				super.onClose(Status.PERMISSION_DENIED.withDescription("etcdserver: permission denied"), trailers);
			}
			else if (this.call.kind == Kind.BROKEN_AFTER) {
				super.onClose(Status.UNAVAILABLE.withDescription("io exception"), trailers);
			}
			else {
				super.onClose(status, trailers);
			}
		}

	}

}
