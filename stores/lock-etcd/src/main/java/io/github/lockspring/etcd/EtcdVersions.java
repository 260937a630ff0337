package io.github.lockspring.etcd;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.cluster.Member;
import io.etcd.jetcd.maintenance.StatusResponse;
import io.github.lockspring.internal.base.LogThread;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of servers with a defect that no client can make up for: a former leader revokes
 * leases that its successor has renewed. Thread-safe.
 *
 * @see <a href="https://github.com/etcd-io/etcd/issues/15247">etcd#15247</a>
 */
final class EtcdVersions {

	private static final Logger logger = LoggerFactory.getLogger(EtcdVersions.class);

	private static final Pattern VERSION = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})\\.(\\d{1,4}).*");

	private static final long FORGET_NANOS = TimeUnit.MINUTES.toNanos(1);

	private final EtcdMembers members;

	private @Nullable CompletionStage<List<String>> asked;

	private long askedAt;

	EtcdVersions(EtcdMembers members) {
		this.members = members;
	}

	/** Logs a warning if a server has the defect. */
	void warn() {
		warnings().thenAccept((warnings) -> warnings.forEach((warning) -> LogThread
			.execute(() -> logger.warn("A server of the locks has a known defect: {}", warning))));
	}

	/**
	 * Asks each server for its version, once a minute at most. Ignores those that do not
	 * return it.
	 * @return a stage that never fails, with a sentence if a server has the defect
	 */
	synchronized CompletionStage<List<String>> warnings() {
		long now = System.nanoTime();
		if (this.asked == null || now - this.askedAt > FORGET_NANOS) {
			this.asked = ask();
			this.askedAt = now;
		}
		return this.asked;
	}

	private CompletionStage<List<String>> ask() {
		return this.members.send(EtcdVersions::versions).handle((versions, ex) -> {
			List<String> old = (ex == null) ? versions.stream().filter(EtcdVersions::isTooOld).distinct().toList()
					: List.of();
			return old.isEmpty() ? List.of()
					: List.of("etcd " + String.join(", ", old) + " may end a lock that its holder has renewed, after a"
							+ " change of the leader (etcd issue 15247). Use 3.4.31, 3.5.13 or later");
		});
	}

	private static CompletableFuture<List<String>> versions(Client client) {
		return client.getClusterClient().listMember().thenCompose((response) -> {
			List<CompletableFuture<String>> versions = new ArrayList<>();
			for (Member member : response.getMembers()) {
				member.getClientURIs()
					.stream()
					.findFirst()
					.ifPresent((uri) -> versions.add(client.getMaintenanceClient()
						.statusMember("ip:///" + uri.getAuthority())
						.thenApply(StatusResponse::getVersion)
						.exceptionally((ex) -> "")));
			}
			return CompletableFuture.allOf(versions.toArray(new CompletableFuture<?>[0]))
				.thenApply((done) -> versions.stream().map(CompletableFuture::join).toList());
		});
	}

	/** Returns whether a version is known to have the defect. */
	static boolean isTooOld(String version) {
		Matcher matcher = VERSION.matcher(version);
		if (!matcher.matches()) {
			return false;
		}
		int major = Integer.parseInt(matcher.group(1));
		int minor = Integer.parseInt(matcher.group(2));
		int patch = Integer.parseInt(matcher.group(3));
		int least = (minor < 4) ? Integer.MAX_VALUE : (minor == 4) ? 31 : (minor == 5) ? 13 : 0;
		return major < 3 || (major == 3 && patch < least);
	}

}
