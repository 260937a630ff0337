package io.github.lockspring.testsupport;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Lets {@code await()} wait for up to a minute instead of ten seconds, since a machine
 * may be busy. A module enables this in
 * {@code META-INF/services/org.junit.jupiter.api.extension.Extension}.
 *
 * @since 0.1
 */
public final class PatientAwaitility implements BeforeAllCallback {

	@Override
	public void beforeAll(ExtensionContext context) {
		Awaitility.setDefaultTimeout(Duration.ofMinutes(1));
	}

}
