package io.github.lockspring.internal.engine.support;

import java.time.Duration;

import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.OwnerToken;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * For how long the release of a lost ownership is known.
 */
class LostReleasesTests {

	private static final long SECOND = 1_000_000_000;

	/* It overflows a second later */
	private static final long START = Long.MAX_VALUE - SECOND;

	private static final Duration TTL = Duration.ofSeconds(5);

	private final LostReleases releases = new LostReleases();

	private final ReleaseRequest lost = release(1, 7);

	private static ReleaseRequest release(long number, long fencingToken) {
		return new ReleaseRequest("a", new OwnerToken("AAAAAAAAAAAAAAAAAAAAAA", number, 1000), TTL, fencingToken,
				Duration.ZERO);
	}

	private ReleaseRequest known(ReleaseRequest release) {
		return this.releases.release("a", release.token());
	}

	private static ReleaseRequest unknown(ReleaseRequest release) {
		return new ReleaseRequest("a", release.token());
	}

	@Test
	void releaseWithLocalTokensIsKnownForTwoLeases() {
		this.releases.add(this.lost, START);
		this.releases.add(release(2, 8), START + 10 * SECOND);
		assertThat(known(this.lost)).isEqualTo(this.lost);
		this.releases.add(release(3, 9), START + 10 * SECOND + 1);
		assertThat(known(this.lost)).as("looked through a moment ago").isEqualTo(this.lost);
		this.releases.add(release(4, 10), START + 11 * SECOND);
		assertThat(known(this.lost)).isEqualTo(unknown(this.lost));
		assertThat(known(release(2, 8))).isEqualTo(release(2, 8));
	}

	@Test
	void firstOneBeginsTheTimeUntilTheNextLook() {
		this.releases.add(new ReleaseRequest("a", this.lost.token(), Duration.ofMillis(100), 7, Duration.ZERO), START);
		this.releases.add(release(2, 8), START + SECOND - 1);
		assertThat(known(this.lost).lastFencingToken()).isEqualTo(7);
		this.releases.add(release(3, 9), START + SECOND);
		assertThat(known(this.lost)).isEqualTo(unknown(this.lost));
	}

	@Test
	void releaseWithoutLocalTokensIsAsOneThatIsNotKnown() {
		ReleaseRequest plain = release(1, 0);
		this.releases.add(plain, START);
		assertThat(known(plain)).isEqualTo(unknown(plain));
	}

}
