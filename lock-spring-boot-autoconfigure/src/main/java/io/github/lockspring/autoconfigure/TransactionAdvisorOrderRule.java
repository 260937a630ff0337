package io.github.lockspring.autoconfigure;

import java.util.Set;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.internal.interceptor.AdvisorChain;
import io.github.lockspring.internal.interceptor.LockedMethodRule;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;

/**
 * Warns of a transaction that a method begins outside of its lock. The lock is kept until
 * the transaction is complete, so that only connections are wasted.
 */
class TransactionAdvisorOrderRule implements LockedMethodRule {

	private static final Logger logger = LoggerFactory.getLogger(TransactionAdvisorOrderRule.class);

	/** With the others, the method begins no transaction. */
	private static final Set<Integer> BEGINS = Set.of(TransactionDefinition.PROPAGATION_REQUIRED,
			TransactionDefinition.PROPAGATION_REQUIRES_NEW, TransactionDefinition.PROPAGATION_NESTED);

	private static final String REMEDY = "Move the lock outside: leave out distributed-lock.order and the order of"
			+ " @EnableTransactionManagement, or set the first one to the smaller number";

	@Override
	public void validate(AdvisorChain chain) {
		if (chain.outside().stream().noneMatch((advisor) -> beginsTransaction(advisor, chain))) {
			return;
		}
		logger.warn(
				"@DistributedLock on {}: its transaction is outside of its lock. The lock is kept until the transaction is"
						+ " complete, but each call holds a database connection while it waits for the lock. {}",
				chain.method(), REMEDY);
	}

	private static boolean beginsTransaction(Advisor advisor, AdvisorChain chain) {
		if (advisor.getAdvice() instanceof TransactionAspectSupport transactions) {
			TransactionAttributeSource source = transactions.getTransactionAttributeSource();
			TransactionAttribute attribute = (source != null)
					? source.getTransactionAttribute(chain.operation().method(), chain.operation().type()) : null;
			return attribute != null && BEGINS.contains(attribute.getPropagationBehavior());
		}
		return false;
	}

}
