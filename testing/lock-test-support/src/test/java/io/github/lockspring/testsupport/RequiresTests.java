package io.github.lockspring.testsupport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.io.TempDir;

import static java.nio.file.attribute.PosixFilePermission.OWNER_EXECUTE;
import static java.nio.file.attribute.PosixFilePermission.OWNER_READ;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * When tests are skipped that need commands.
 */
class RequiresTests {

	@TempDir
	Path folder;

	@Test
	void testsRunOnlyWhereAllCommandsAreAndFailWhereTheyHaveToBe() throws IOException {
		command("one");
		assertThat(evaluate("etcd").isDisabled()).isTrue();
		assertThat(evaluate(null).getReason()).hasValueSatisfying((reason) -> assertThat(reason).contains("no two"));
		assertThatIllegalStateException().isThrownBy(() -> evaluate("etcd both")).withMessageContaining("no two");
		command("two");
		assertThat(evaluate(null).isDisabled()).isFalse();
	}

	private ConditionEvaluationResult evaluate(String required) {
		return Requires.Condition.evaluate(Both.class.getAnnotation(Requires.class), "/nowhere:" + this.folder,
				required);
	}

	private void command(String name) throws IOException {
		Files.setPosixFilePermissions(Files.createFile(this.folder.resolve(name)), Set.of(OWNER_READ, OWNER_EXECUTE));
	}

	@Requires(name = "both", commands = { "one", "two" })
	private static final class Both {

	}

}
