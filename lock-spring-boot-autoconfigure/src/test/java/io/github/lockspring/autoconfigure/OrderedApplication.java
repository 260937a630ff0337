package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import io.github.lockspring.FencingGuard;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.concurrent.ConcurrentMapCache;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * An application with a database whose locks, transactions, guard and caches note what
 * they do, in the order in which they do it.
 */
final class OrderedApplication {

	private OrderedApplication() {
	}

	/**
	 * With Spring Boot's auto-configurations of JDBC, transactions and tasks, and the
	 * locks in memory.
	 * @param beans the application's own beans
	 */
	static ApplicationContextRunner with(Class<?>... beans) {
		return Applications.inMemory()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
					TransactionManagerCustomizationAutoConfiguration.class, TransactionAutoConfiguration.class,
					TaskExecutionAutoConfiguration.class))
			.withUserConfiguration(Noted.class)
			.withUserConfiguration(beans);
	}

	@Configuration(proxyBeanMethods = false)
	static class Noted {

		@Bean
		Trace trace() {
			return new Trace();
		}

		@Bean
		NotedTransactions transactionManager(DataSource dataSource, Trace trace) {
			return new NotedTransactions(dataSource, trace);
		}

		@Bean
		FencingGuard fencingGuard(Trace trace) {
			return (resource, token) -> trace.note("fenced");
		}

		@Bean
		CacheManager cacheManager(Trace trace) {
			return new NotedCaches(trace);
		}

	}

	/**
	 * What happened, in its order. Locks are noted by their keys, transactions by the
	 * names of their methods.
	 */
	static class Trace {

		private final List<String> steps = new CopyOnWriteArrayList<>();

		private final ThreadLocal<Boolean> asking = ThreadLocal.withInitial(() -> false);

		void note(String step) {
			this.steps.add(step);
		}

		/** What happened since the last time. */
		List<String> steps() {
			List<String> taken = List.copyOf(this.steps);
			this.steps.clear();
			return taken;
		}

		@EventListener
		public void onLockEvent(LockEvent event) {
			if (this.asking.get()) {
				return;
			}
			if (event instanceof LockEvent.Acquired) {
				note("lock " + event.key());
			}
			else if (event instanceof LockEvent.Released) {
				note("release " + event.key());
			}
		}

		/** Notes whether somebody else would be refused the lock now. */
		void noteWhetherBusy(LockTemplate locks, String key) {
			note(isBusy(locks, key) ? key + " is busy" : key + " is free");
		}

		private boolean isBusy(LockTemplate locks, String key) {
			return CompletableFuture.supplyAsync(() -> {
				this.asking.set(true);
				try {
					locks.acquire(LockRequest.of(key).waitTime(Duration.ZERO)).close();
					return false;
				}
				catch (LockNotAcquiredException ex) {
					return true;
				}
				finally {
					this.asking.remove();
				}
			}).join();
		}

	}

	static class NotedTransactions extends JdbcTransactionManager {

		private static final long serialVersionUID = 1L;

		private final transient Trace trace;

		NotedTransactions(DataSource dataSource, Trace trace) {
			super(dataSource);
			this.trace = trace;
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			super.doBegin(transaction, definition);
			this.trace.note("begin " + shortName(definition.getName()));
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			super.doCommit(status);
			this.trace.note("commit " + shortName(status.getTransactionName()));
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
			super.doRollback(status);
			this.trace.note("rollback " + shortName(status.getTransactionName()));
		}

		private static String shortName(String name) {
			return (name != null) ? name.substring(name.lastIndexOf('.') + 1) : "";
		}

	}

	private static final class NotedCaches extends ConcurrentMapCacheManager {

		private final Trace trace;

		NotedCaches(Trace trace) {
			this.trace = trace;
		}

		@Override
		protected Cache createConcurrentMapCache(String name) {
			return new ConcurrentMapCache(name) {

				@Override
				public ValueWrapper get(Object key) {
					ValueWrapper value = super.get(key);
					NotedCaches.this.trace.note((value != null) ? "hit" : "miss");
					return value;
				}

				@Override
				public void put(Object key, Object value) {
					super.put(key, value);
					NotedCaches.this.trace.note("put");
				}

			};
		}

	}

}
