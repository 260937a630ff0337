package io.github.lockspring.testsupport.etcd;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Where the tests with etcd run.
 */
class RequiresEtcdTests {

	@Test
	void withoutEtcdTheyAreSkippedUnlessItIsRequired(@TempDir Path empty) {
		assertThat(RequiresEtcd.Condition.evaluate(empty.toString(), "browser").isDisabled()).isTrue();
		assertThat(RequiresEtcd.Condition.evaluate(empty.toString(), null).isDisabled()).isTrue();
		assertThatIllegalStateException()
			.isThrownBy(() -> RequiresEtcd.Condition.evaluate(empty.toString(), "browser etcd"))
			.withMessageContaining("install Debian's etcd-server");
	}

}
