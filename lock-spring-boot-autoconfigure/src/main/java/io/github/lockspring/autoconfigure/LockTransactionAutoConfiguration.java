package io.github.lockspring.autoconfigure;

import io.github.lockspring.autoconfigure.internal.ConditionalOnLocksEnabled;
import io.github.lockspring.UnitOfWork;
import io.github.lockspring.autoconfigure.internal.ConditionalOnFlag;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.transaction.CommitGuard;
import io.github.lockspring.internal.transaction.TransactionListenerRegistrar;
import io.github.lockspring.internal.transaction.TransactionUnitOfWork;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.transaction.ConfigurableTransactionManager;

/**
 * Auto-configuration of locks in transactions: a lock acquired inside a transaction ends
 * with it, and a transaction whose lock was lost does not commit.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnClass(ConfigurableTransactionManager.class)
@ConditionalOnLocksEnabled
public final class LockTransactionAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnFlag(name = "distributed-lock.transaction.release-after-completion", byDefault = true)
	UnitOfWork lockspringUnitOfWork() {
		return new TransactionUnitOfWork();
	}

	@Bean
	TransactionAdvisorOrderRule lockspringTransactionAdvisorOrderRule(ObjectProvider<UnitOfWork> unitsOfWork) {
		return new TransactionAdvisorOrderRule(
				() -> unitsOfWork.getIfAvailable(() -> UnitOfWork.NONE) != UnitOfWork.NONE);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TransactionListenerRegistrar lockspringTransactionListenerRegistrar(
			ObjectProvider<DistributedLockProperties> properties, ObjectProvider<LockRecorder> recorders) {
		return new TransactionListenerRegistrar(() -> {
			DistributedLockProperties.Transaction transaction = properties.getObject().transaction();
			return new CommitGuard.Settings(transaction.verifyBeforeCommit(), transaction.minRemaining());
		}, (lock) -> recorders.ifAvailable((recorder) -> recorder.refused(lock.name(), LockRecorder.Guard.COMMIT)));
	}

}
