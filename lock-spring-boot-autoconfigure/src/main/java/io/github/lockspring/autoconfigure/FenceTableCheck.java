package io.github.lockspring.autoconfigure;

import io.github.lockspring.fencing.JdbcFencingGuard;
import io.github.lockspring.internal.base.DaemonThreadFactory;
import io.github.lockspring.internal.fencing.FencedBeanPostProcessor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * Warns of a missing table of fencing tokens when an application with {@code @Fenced} has
 * started. In the background: a database that does not answer must not delay the start.
 *
 * @param context the application
 * @param fenced returns whether anything is fenced
 */
record FenceTableCheck(ApplicationContext context,
		FencedBeanPostProcessor fenced) implements ApplicationListener<ContextRefreshedEvent> {

	private static final Logger logger = LoggerFactory.getLogger(FenceTableCheck.class);

	/** By then, migrations have run. */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext() == this.context && this.fenced.isUsed()) {
			this.context.getBeanProvider(JdbcFencingGuard.class)
				.forEach((guard) -> new DaemonThreadFactory("lock-fence-check").newThread(() -> check(guard)).start());
		}
	}

	private static void check(JdbcFencingGuard guard) {
		try {
			guard.checkTable();
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			logger.warn("{}. Methods with @Fenced fail until this is corrected", ex.getMessage());
		}
		catch (RuntimeException ex) {
			logger.debug("The table of fencing tokens was not checked", ex);
		}
	}

}
