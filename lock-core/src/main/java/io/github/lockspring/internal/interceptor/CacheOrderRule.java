package io.github.lockspring.internal.interceptor;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockspring.OnBusy;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.cache.interceptor.CacheInterceptor;
import org.springframework.cache.interceptor.CacheOperation;
import org.springframework.cache.interceptor.CachePutOperation;
import org.springframework.cache.interceptor.CacheableOperation;
import org.springframework.util.StringUtils;

/**
 * Refuses a cache inside of the lock that calls the method on a thread of its own, and
 * warns of one outside of it that would keep what it should not. That a hit does not take
 * the lock there is what such an order is for.
 */
final class CacheOrderRule implements AdvisorOrderRule {

	private static final Logger logger = LoggerFactory.getLogger(CacheOrderRule.class);

	private static final String REMEDY = "Let the cache be inside of the lock, where it is unless distributed-lock.order"
			+ " or the order of @EnableCaching says otherwise";

	@Override
	public void validate(AdvisorChain chain) {
		operations(chain.outside(), chain.operation()).forEach((operation) -> checkOutside(operation, chain));
		operations(chain.inside(), chain.operation()).forEach((operation) -> checkInside(operation, chain));
	}

	/**
	 * For such a future the cache may be read, and the method called, asynchronously.
	 */
	private void checkInside(CacheOperation operation, AdvisorChain chain) {
		if (operation instanceof CacheableOperation
				&& CompletableFuture.class.isAssignableFrom(chain.operation().method().getReturnType())) {
			throw chain.error(
					"@Cacheable is inside of its lock, and calls a method that returns a CompletableFuture on a thread of the"
							+ " cache, after the lock was released",
					"Cache the values in another bean's method that calls this one, or return the value itself");
		}
	}

	private static List<CacheOperation> operations(List<Advisor> advisors, LockOperation operation) {
		List<CacheOperation> found = new ArrayList<>();
		for (Advisor advisor : advisors) {
			if (advisor.getAdvice() instanceof CacheInterceptor cache && cache.getCacheOperationSource() != null) {
				Collection<CacheOperation> operations = cache.getCacheOperationSource()
					.getCacheOperations(operation.method(), operation.type());
				found.addAll((operations != null) ? operations : List.of());
			}
		}
		return found;
	}

	private void checkOutside(CacheOperation operation, AdvisorChain chain) {
		boolean put = operation instanceof CachePutOperation;
		if (put) {
			logger.warn("@DistributedLock on {}: @CachePut is outside of the lock and writes after its release: a value"
					+ " may replace that of a later holder. {}", chain.method(), REMEDY);
		}
		if ((put || operation instanceof CacheableOperation) && chain.operation().onBusy() == OnBusy.SKIP
				&& !StringUtils.hasLength(unless(operation))) {
			logger.warn(
					"@DistributedLock on {}: the cache is outside of the lock and keeps what is returned when the lock is"
							+ " busy (onBusy = SKIP). {}, or leave those values out of it with unless",
					chain.method(), REMEDY);
		}
	}

	private static @Nullable String unless(CacheOperation operation) {
		return (operation instanceof CachePutOperation put) ? put.getUnless()
				: ((CacheableOperation) operation).getUnless();
	}

}
