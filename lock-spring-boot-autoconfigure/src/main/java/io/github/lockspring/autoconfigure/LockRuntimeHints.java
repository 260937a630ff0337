package io.github.lockspring.autoconfigure;

import java.util.List;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Keeps scripts, schemas and annotation attributes in a native image.
 */
class LockRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources().registerPattern("io/github/lockspring/**/*.lua");
		hints.resources().registerPattern("io/github/lockspring/**/*.sql");
		// where the application's Redis is: there is no getter for all kinds of it
		hints.reflection()
			.registerTypeIfPresent(classLoader,
					"org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
					(type) -> type.withField("configuration"));
		for (Class<?> type : List.of(DistributedLock.class, Fenced.class)) {
			hints.reflection().registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS);
		}
	}

}
