package io.github.lockspring.lab.recipe;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.lockspring.lab.worker.Shop;
import io.github.lockspring.store.DelegatingLockStore;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * Reports what Lockspring asks its store, and lets the lab hold a renewal back.
 */
final class ReportingStore extends DelegatingLockStore {

	private final Shop shop;

	ReportingStore(LockStore store, Shop shop) {
		super(store);
		this.shop = shop;
	}

	@Override
	public CompletionStage<AcquireResult> acquire(AcquireRequest request, Duration timeout) {
		String command = "acquire.lua " + request.key() + " " + request.token() + " PX " + request.ttl().toMillis()
				+ (request.queue() ? " queues" : "");
		long sent = System.nanoTime();
		return super.acquire(request, timeout).whenComplete((result, ex) -> report(command, result, ex, sent));
	}

	@Override
	public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
		String command = "release.lua " + request.key() + " " + request.token();
		long sent = System.nanoTime();
		return super.release(request, timeout).whenComplete((result, ex) -> report(command, result, ex, sent));
	}

	/** The thread that sends renewals must not wait for the lab. */
	@Override
	public CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout) {
		return CompletableFuture.runAsync(() -> this.shop.reach("before renew"))
			.thenCompose((held) -> renewNow(requests, timeout));
	}

	private CompletionStage<List<RenewResult>> renewNow(List<RenewRequest> requests, Duration timeout) {
		RenewRequest first = requests.get(0);
		String command = "renew.lua " + first.key() + " " + first.token() + " PX " + first.ttl().toMillis();
		long sent = System.nanoTime();
		return super.renew(requests, timeout).whenComplete((results, ex) -> {
			if (results != null && results.contains(RenewResult.RENEWED)) {
				this.shop.renewed(sent + this.shop.ttl().toNanos());
			}
			report(command, results, ex, sent);
		});
	}

	private void report(String command, @Nullable Object answer, @Nullable Throwable failure, long sent) {
		this.shop.report("command", "command", command, "answer",
				String.valueOf((failure != null) ? failure.getMessage() : answer), "tookMillis",
				(System.nanoTime() - sent) / 1e6, "to", this.shop.server());
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return super.inbox(instance, new InboxListener() {

			@Override
			public void granted(String key, OwnerToken token, long fencingToken, boolean othersWait) {
				ReportingStore.this.shop.report("message", "text", "granted " + key + " to " + token, "token",
						fencingToken);
				listener.granted(key, token, fencingToken, othersWait);
			}

			@Override
			public void wanted(String key, OwnerToken token) {
				ReportingStore.this.shop.report("message", "text", "another instance waits for " + key);
				listener.wanted(key, token);
			}

			@Override
			public void opened() {
				listener.opened();
			}

		});
	}

}
