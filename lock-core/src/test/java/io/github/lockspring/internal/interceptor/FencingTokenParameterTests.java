package io.github.lockspring.internal.interceptor;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockspring.FencingToken;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.DistributedLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.cache.interceptor.SimpleKey;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A parameter that is given the token of the method's own lock, with a real engine.
 */
class FencingTokenParameterTests {

	private final AnnotationConfigApplicationContext context = LockContexts.start(LockedCallTests.Engine.class,
			Outside.class, Shop.class);

	private final Shop shop = this.context.getBean(Shop.class);

	@AfterEach
	void stop() {
		this.context.close();
	}

	@Test
	void methodIsGivenTheTokenOfItsLock() {
		FencingToken first = this.shop.sell("tea", null);
		FencingToken second = this.shop.sell("tea", null);
		assertThat(first.key()).isEqualTo("stock:tea");
		assertThat(second.value()).isGreaterThan(first.value());
	}

	@Test
	void whatTheCallerPassedIsReplaced() {
		FencingToken own = new FencingToken("other", 1);
		assertThat(this.shop.sell("tea", own)).isNotEqualTo(own);
	}

	@Test
	void adviceOutsideOfTheLockSeesWhatTheCallerPassed() {
		FencingToken token = this.shop.remembered("a", null);
		assertThat(this.context.getBean(CacheManager.class).getCache("tokens").get(new SimpleKey("a", null)).get())
			.isEqualTo(token);
	}

	@Test
	void callWithoutLockKeepsWhatTheCallerPassed() {
		FencingToken own = new FencingToken("other", 1);
		assertThat(this.shop.sellSome(0, own)).isSameAs(own);
		assertThat(this.shop.sellSome(0, null)).isNull();
		assertThat(this.shop.sellSome(1, null)).isNotNull();
	}

	@Test
	void fallbackGetsWhatTheCallerPassed() {
		FencingToken own = new FencingToken("other", 1);
		try (HeldLock other = this.context.getBean(LockTemplate.class)
			.acquire(LockRequest.of("busy").waitTime(Duration.ZERO))) {
			assertThat(other.isHeld()).isTrue();
			assertThat(this.shop.orElse("busy", own)).isSameAs(own);
			assertThat(this.shop.orElse("busy", null)).isNull();
		}
		assertThat(this.shop.orElse("busy", null)).isNotNull();
	}

	@Test
	void repeatedAnnotationsMayGiveOneKeyEach() {
		assertThat(this.shop.quickOrSlow("a", true, null).key()).isEqualTo("a");
		assertThat(this.shop.quickOrSlow("a", false, null).key()).isEqualTo("a");
	}

	@Test
	void callWithSeveralKeysIsRefusedBeforeTheyAreTaken() {
		assertThat(this.shop.transfer(List.of("a"), null).key()).isEqualTo("account:a");
		assertThat(this.shop.transfer(List.of("a", "a"), null).key()).isEqualTo("account:a");
		try (HeldLock other = this.context.getBean(LockTemplate.class)
			.acquire(LockRequest.of("account:b").waitTime(Duration.ZERO))) {
			assertThat(other.isHeld()).isTrue();
			assertThatExceptionOfType(LockDefinitionException.class)
				.isThrownBy(() -> this.shop.transfer(List.of("b", "a"), null))
				.withMessageContainingAll("Shop.transfer(List, FencingToken)", "[account:a, account:b]",
						"each with a token of its own", "HeldLock.current(key)");
		}
	}

	@Test
	void eachRetryIsGivenTheTokenOfTheLockThatItTook() {
		this.shop.retried(null);
		assertThat(this.shop.tokens()).hasSize(3).doesNotContainNull().doesNotHaveDuplicates();
	}

	@Test
	void interfaceMethodIsGivenTheTokenThroughInterfaceProxies() {
		try (AnnotationConfigApplicationContext context = LockContexts
			.startWithInterfaceProxies(LockedCallTests.Engine.class, Store.class)) {
			assertThat(context.getBean(Api.class).put("x", null)).isTrue();
		}
	}

	@Test
	void genericParameterIsGivenTheTokenToo() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(LockedCallTests.Engine.class,
				Inherited.class)) {
			assertThat(context.getBean(Inherited.class).handle(null)).isInstanceOf(FencingToken.class);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods(proxyTargetClass = true)
	@EnableCaching(proxyTargetClass = true, order = 0)
	static class Outside {

		@Bean
		CacheManager caches() {
			return new ConcurrentMapCacheManager();
		}

	}

	static class Shop {

		private final List<@Nullable FencingToken> tokens = new CopyOnWriteArrayList<>();

		public List<@Nullable FencingToken> tokens() {
			return this.tokens;
		}

		@DistributedLock(name = "stock", key = "#article")
		public @Nullable FencingToken sell(String article, @Nullable FencingToken token) {
			assertThat(HeldLock.current("stock:" + article).map(FencingToken::of)).contains(token);
			return token;
		}

		@CachePut("tokens")
		@DistributedLock("#id")
		public @Nullable FencingToken remembered(String id, @Nullable FencingToken token) {
			return token;
		}

		@DistributedLock(key = "'some'", condition = "#p0 > 0")
		public @Nullable FencingToken sellSome(int pieces, @Nullable FencingToken token) {
			return token;
		}

		@DistributedLock(key = "#key", fallback = "busy", waitTime = "0s")
		public @Nullable FencingToken orElse(String key, @Nullable FencingToken token) {
			return token;
		}

		@Nullable FencingToken busy(String key, @Nullable FencingToken token) {
			return token;
		}

		@DistributedLock(key = "#key", ttl = "1s", condition = "#quick")
		@DistributedLock(key = "#key", ttl = "1m", condition = "!#quick")
		public @Nullable FencingToken quickOrSlow(String key, boolean quick, @Nullable FencingToken token) {
			return token;
		}

		@DistributedLock(name = "account", key = "#accounts")
		public @Nullable FencingToken transfer(List<String> accounts, @Nullable FencingToken token) {
			return token;
		}

		@Retryable(maxRetries = 2, delay = 0)
		@DistributedLock("'retried'")
		public void retried(@Nullable FencingToken token) {
			this.tokens.add(token);
			if (this.tokens.size() < 3) {
				throw new IllegalStateException("again");
			}
		}

	}

	interface Api {

		@DistributedLock("#key")
		boolean put(String key, @Nullable FencingToken token);

	}

	static class Store implements Api {

		@Override
		public boolean put(String key, @Nullable FencingToken token) {
			return token.key().equals(key);
		}

	}

	abstract static class Generic<T> {

		@DistributedLock("'generic'")
		public @Nullable T handle(@Nullable T value) {
			return value;
		}

	}

	static class Inherited extends Generic<FencingToken> {

	}

}
