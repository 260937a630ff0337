package io.github.lockspring.benchmarks.adapter;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.support.Observers;

/**
 * jetcd's lock, which waits on the server: one client for the process, and one lease for
 * each thread, which is kept alive. All locks of a lease are those of one owner, so
 * threads that share one would not exclude each other.
 */
final class JetcdAdapter implements LockAdapter {

	private static final long WAIT_SECONDS = 60;

	private final Client client;

	private final ThreadLocal<Long> leases;

	JetcdAdapter(Servers servers) {
		this.client = Client.builder().endpoints(servers.etcd()).build();
		this.leases = ThreadLocal.withInitial(() -> lease(servers.ttl().toSeconds()));
	}

	private long lease(long seconds) {
		try {
			long lease = this.client.getLeaseClient().grant(seconds).get(WAIT_SECONDS, TimeUnit.SECONDS).getID();
			this.client.getLeaseClient()
				.keepAlive(lease, Observers.<LeaseKeepAliveResponse>builder().onNext((response) -> {
				}).build());
			return lease;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void runLocked(String key, Runnable section) throws Exception {
		ByteSequence name = ByteSequence.from(key, StandardCharsets.UTF_8);
		ByteSequence held = this.client.getLockClient()
			.lock(name, this.leases.get())
			.get(WAIT_SECONDS, TimeUnit.SECONDS)
			.getKey();
		try {
			section.run();
		}
		finally {
			this.client.getLockClient().unlock(held).get(WAIT_SECONDS, TimeUnit.SECONDS);
		}
	}

	@Override
	public void close() {
		this.client.close();
	}

}
