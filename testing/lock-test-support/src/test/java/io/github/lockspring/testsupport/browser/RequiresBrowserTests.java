package io.github.lockspring.testsupport.browser;

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

/**
 * When tests in a browser are skipped.
 */
class RequiresBrowserTests {

	@TempDir
	Path folder;

	@Test
	void skipsWhereThereIsNoBrowserAndSaysWhatIsMissing() throws IOException {
		command(Browser.BROWSER);
		ConditionEvaluationResult result = RequiresBrowser.Condition.evaluate(this.folder.toString(), "etcd");
		assertThat(result.isDisabled()).isTrue();
		assertThat(result.getReason()).hasValueSatisfying((reason) -> assertThat(reason).contains("no chromedriver"));
	}

	@Test
	void runsWhereABrowserIsRequiredSoThatTheTestsFail() {
		assertThat(RequiresBrowser.Condition.evaluate(this.folder.toString(), "etcd browser").isDisabled()).isFalse();
	}

	@Test
	void runsWhereThereIsABrowser() throws IOException {
		command(Browser.BROWSER);
		command(Browser.DRIVER);
		assertThat(RequiresBrowser.Condition.evaluate("/nowhere:" + this.folder, null).isDisabled()).isFalse();
	}

	private void command(String name) throws IOException {
		Files.setPosixFilePermissions(Files.createFile(this.folder.resolve(name)), Set.of(OWNER_READ, OWNER_EXECUTE));
	}

}
