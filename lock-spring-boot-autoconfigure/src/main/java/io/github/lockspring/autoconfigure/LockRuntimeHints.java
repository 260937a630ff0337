package io.github.lockspring.autoconfigure;

import io.github.lockspring.annotation.DistributedLock;
import io.github.lockspring.annotation.DistributedLocks;
import io.github.lockspring.annotation.Fenced;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * What a native image has to keep: the scripts, and the attributes of the annotations.
 */
class LockRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources().registerPattern("io/github/lockspring/redis/*.lua");
		hints.resources().registerPattern("io/github/lockspring/redis/redlock/*.lua");
		hints.resources().registerPattern("io/github/lockspring/jdbc/*.sql");
		hints.reflection().registerType(DistributedLock.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		hints.reflection().registerType(DistributedLocks.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		hints.reflection().registerType(Fenced.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		// made of a URL by its valueOf
		hints.reflection().registerType(RedlockNodeProperties.class, MemberCategory.INVOKE_PUBLIC_METHODS);
	}

}
