package io.github.lockspring.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.lockspring.internal.queue.Entry;
import io.github.lockspring.internal.queue.EntryServer.Renewal;
import io.github.lockspring.store.LockStore.RenewResult;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;

/**
 * Renews nodes in one transaction, which proves that the session and the nodes exist. If
 * some are missing, the others are renewed in another one. Not thread-safe.
 */
final class NodeRenewal {

	private final Session session;

	private final List<Renewal> renewals;

	private final RenewResult[] results;

	NodeRenewal(Session session, List<Renewal> renewals) {
		this.session = session;
		this.renewals = renewals;
		this.results = new RenewResult[renewals.size()];
		Arrays.fill(this.results, RenewResult.NOT_OWNER);
	}

	/** Nodes of earlier sessions do not belong to this process any more. */
	CompletionStage<List<RenewResult>> send() {
		List<Integer> asked = new ArrayList<>();
		for (int i = 0; i < this.results.length; i++) {
			if (node(i).session() == this.session) {
				asked.add(i);
			}
		}
		return send(asked);
	}

	private CompletionStage<List<RenewResult>> send(List<Integer> asked) {
		if (asked.isEmpty()) {
			return CompletableFuture.completedFuture(Arrays.asList(this.results));
		}
		return this.session.multi(asked.stream().map(this::operation).toList()).thenCompose((answers) -> {
			List<Integer> present = present(asked, answers);
			if (present.size() < asked.size()) {
				return send(present);
			}
			Code refused = NodeCreation.code(answers);
			if (refused != Code.OK) {
				return CompletableFuture.failedFuture(KeeperException.create(refused, node(asked.get(0)).id()));
			}
			present.forEach(this::renewed);
			return CompletableFuture.completedFuture(Arrays.asList(this.results));
		})
			.exceptionallyCompose((ex) -> ZooKeeperErrors.isExpired(ex)
					? CompletableFuture.completedFuture(Arrays.asList(this.results))
					: CompletableFuture.failedFuture(ex));
	}

	/** Writes a longer lease, which others are shown. */
	private Op operation(int index) {
		OwnNode node = node(index);
		long millis = this.renewals.get(index).ttlMillis();
		return (millis > node.ttlMillis())
				? Op.setData(node.id(), Entry.Content.text(millis, false).getBytes(StandardCharsets.UTF_8), -1)
				: Op.check(node.id(), -1);
	}

	private void renewed(int index) {
		OwnNode node = node(index);
		node.show(Math.max(node.ttlMillis(), this.renewals.get(index).ttlMillis()));
		this.results[index] = RenewResult.RENEWED;
	}

	private List<Integer> present(List<Integer> asked, List<OpResult> answers) {
		List<Integer> present = new ArrayList<>();
		for (int i = 0; i < asked.size(); i++) {
			boolean missing = answers.get(i) instanceof OpResult.ErrorResult error
					&& error.getErr() == Code.NONODE.intValue();
			if (missing) {
				node(asked.get(i)).end();
			}
			else {
				present.add(asked.get(i));
			}
		}
		return present;
	}

	private OwnNode node(int index) {
		return (OwnNode) this.renewals.get(index).entry();
	}

}
