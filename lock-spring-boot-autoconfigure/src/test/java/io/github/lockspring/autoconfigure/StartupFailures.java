package io.github.lockspring.autoconfigure;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a person reads when the application does not start: all registered analyzers, in
 * the order in which Spring Boot asks them.
 */
public final class StartupFailures {

	private StartupFailures() {
	}

	public static FailureAnalysis of(AbstractApplicationContextRunner<?, ?, ?> runner) {
		AtomicReference<@Nullable FailureAnalysis> analysis = new AtomicReference<>();
		AtomicReference<@Nullable ConfigurableApplicationContext> started = new AtomicReference<>();
		runner.withInitializer(started::set).run((context) -> {
			assertThat(context).hasFailed();
			analysis.set(analyze(context.getStartupFailure(), started.get()));
		});
		assertThat(analysis.get()).as("analysis of the failed start").isNotNull();
		return analysis.get();
	}

	private static @Nullable FailureAnalysis analyze(Throwable failure, ConfigurableApplicationContext context) {
		List<FailureAnalyzer> analyzers = SpringFactoriesLoader.forDefaultResourceLocation()
			.load(FailureAnalyzer.class,
					ArgumentResolver.of(Environment.class, context.getEnvironment())
						.and(BeanFactory.class, context.getBeanFactory()),
					FailureHandler.logging(LogFactory.getLog("analyzers")));
		for (FailureAnalyzer analyzer : analyzers) {
			FailureAnalysis analysis = analyzer.analyze(failure);
			if (analysis != null) {
				return analysis;
			}
		}
		return null;
	}

}
