package io.github.lockspring.zookeeper;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import io.github.lockspring.LockUnavailableException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.ACL;

/**
 * Creates nodes in the queues of locks, and the containers of the queues if they are
 * missing. Thread-safe.
 * <p>
 * The first node for a key that was not used recently is created in one transaction with
 * its container, and both are also deleted together: a server deletes at most 10,000
 * empty containers a minute, so those of keys that are used once would pile up. The
 * container of a key that is used again is left to the server.
 */
final class NodeCreation {

	/** Each instance may delete the container once before it is used again. */
	private static final int MAX_TRIES = 50;

	private static final int RECENT_KEYS = 10_000;

	private final LockPaths paths;

	private final List<ACL> acl;

	private final Map<String, Integer> recent = new LinkedHashMap<>(16, 0.75f, true) {

		@Override
		protected boolean removeEldestEntry(Map.Entry<String, Integer> eldest) {
			return size() > RECENT_KEYS;
		}

	};

	NodeCreation(LockPaths paths, List<ACL> acl) {
		this.paths = paths;
		this.acl = acl;
	}

	/**
	 * A node that was created.
	 *
	 * @param path its path
	 * @param czxid the number of the transaction that created it
	 * @param queue the nodes of its queue, in order; fails if the node cannot be used
	 * @param withContainer whether the container was created with it, to be deleted with
	 * it
	 */
	record Created(String path, long czxid, CompletionStage<List<Node>> queue, boolean withContainer) {
	}

	CompletionStage<Created> create(Session session, String key, String token, byte[] data) {
		int uses;
		synchronized (this.recent) {
			uses = this.recent.merge(key, 1, (before, one) -> Math.min(before + one, 3));
		}
		// the container is missing at the first two uses, unless other instances use it
		return new Attempt(session, key, token, data, uses == 1).create(uses <= 2, MAX_TRIES);
	}

	private final class Attempt {

		private final Session session;

		private final String key;

		private final String token;

		private final byte[] data;

		private final boolean isNew;

		private Code refused = Code.OK;

		private Attempt(Session session, String key, String token, byte[] data, boolean isNew) {
			this.session = session;
			this.key = key;
			this.token = token;
			this.data = data;
			this.isNew = isNew;
		}

		private String prefix() {
			return NodeCreation.this.paths.entry(this.key, this.token);
		}

		private String container() {
			return NodeCreation.this.paths.lock(this.key);
		}

		/** Other instances create and delete the container at any time. */
		private CompletionStage<Created> create(boolean withContainer, int tries) {
			if (tries == 0) {
				return CompletableFuture.failedFuture(new LockUnavailableException(
						"The container of lock '" + this.key + "' is created and deleted too often"));
			}
			return withContainer ? createWithContainer(tries) : createAlone(tries);
		}

		private CompletionStage<Created> createAlone(int tries) {
			CompletableFuture<Session.Created> created = this.session.create(prefix(), this.data,
					NodeCreation.this.acl);
			// executed after the creation
			CompletionStage<List<Node>> queue = this.session.children(container())
				.thenApply((names) -> LockPaths.sorted(container(), names));
			return created.<CompletionStage<Created>>handle((node, ex) -> {
				if (ex instanceof KeeperException.NoNodeException) {
					return (this.refused == Code.OK) ? create(true, tries - 1) : failed(this.refused, container());
				}
				return (ex != null) ? CompletableFuture.failedFuture(ex)
						: CompletableFuture.completedFuture(new Created(node.path(), node.czxid(),
								LockPaths.isTooLate(node.path()) ? tooLate() : queue, false));
			}).thenCompose(Function.identity());
		}

		private CompletionStage<List<Node>> tooLate() {
			return CompletableFuture.failedFuture(new LockUnavailableException(LockPaths.tooLate(this.key)));
		}

		private CompletionStage<Created> createWithContainer(int tries) {
			return this.session
				.multi(List.of(Op.create(container(), new byte[0], NodeCreation.this.acl, CreateMode.CONTAINER),
						Op.create(prefix(), this.data, NodeCreation.this.acl, CreateMode.EPHEMERAL_SEQUENTIAL)))
				.thenCompose((results) -> {
					if (results.get(0) instanceof OpResult.CreateResult container
							&& results.get(1) instanceof OpResult.CreateResult node) {
						return CompletableFuture.completedFuture(created(container, node));
					}
					Code code = code(results);
					return switch (code) {
						case NONODE -> createRoots().thenCompose((done) -> create(true, tries - 1));
						case NODEEXISTS -> create(false, tries - 1);
						case NOAUTH -> {
							// the container may exist nevertheless
							this.refused = code;
							yield create(false, tries - 1);
						}
						default -> failed(code, container());
					};
				});
		}

		/** Both have the number of the transaction, which only the container shows. */
		private Created created(OpResult.CreateResult container, OpResult.CreateResult node) {
			return new Created(node.getPath(), container.getStat().getCzxid(),
					CompletableFuture.completedFuture(List.of(new Node(node.getPath(), this.token))), this.isNew);
		}

		private CompletionStage<Boolean> createRoots() {
			List<String> roots = NodeCreation.this.paths.roots();
			List<CompletableFuture<Code>> created = roots.stream()
				.map((root) -> this.session
					.multi(List.of(Op.create(root, new byte[0], NodeCreation.this.acl, CreateMode.CONTAINER)))
					.thenApply(NodeCreation::code))
				.toList();
			return CompletableFuture.allOf(created.toArray(CompletableFuture[]::new)).thenCompose((done) -> {
				List<Code> codes = created.stream().map(CompletableFuture::join).toList();
				int last = codes.size() - 1;
				int refusedAt = codes.indexOf(Code.NOAUTH);
				// one that exists refuses without need
				boolean there = codes.get(last) == Code.OK || codes.get(last) == Code.NODEEXISTS;
				return (there || refusedAt < 0) ? CompletableFuture.completedFuture(true)
						: failed(Code.NOAUTH, roots.get(refusedAt));
			});
		}

	}

	/** Returns why a transaction was refused. */
	static Code code(List<OpResult> results) {
		return results.stream()
			.filter(OpResult.ErrorResult.class::isInstance)
			.map((result) -> Code.get(((OpResult.ErrorResult) result).getErr()))
			.filter((code) -> code != Code.OK)
			.findFirst()
			.orElse(Code.OK);
	}

	private static <T> CompletionStage<T> failed(Code code, String path) {
		return CompletableFuture.failedFuture(KeeperException.create(code, path));
	}

}
