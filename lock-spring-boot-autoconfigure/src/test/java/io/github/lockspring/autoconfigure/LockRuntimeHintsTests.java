package io.github.lockspring.autoconfigure;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

class LockRuntimeHintsTests {

	private final RuntimeHints hints = new RuntimeHints();

	LockRuntimeHintsTests() {
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
			.load(RuntimeHintsRegistrar.class)
			.forEach((registrar) -> registrar.registerHints(this.hints, getClass().getClassLoader()));
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis/acquire.lua", "redis/redlock/acquire.lua", "fencing/lock-fence-h2.sql",
			"jdbc/lock-lease-h2.sql" })
	void scriptsAreKept(String name) {
		String resource = "io/github/lockspring/" + name;
		assertThat(new ClassPathResource(resource).exists()).isTrue();
		assertThat(RuntimeHintsPredicates.resource().forResource(resource)).accepts(this.hints);
	}

	@Test
	void fieldThatSaysWhereRedisIsCanBeRead() throws Exception {
		assertThat(RuntimeHintsPredicates.reflection()
			.onFieldAccess(LettuceConnectionFactory.class.getDeclaredField("configuration"))).accepts(this.hints);
	}

	@ParameterizedTest
	@ValueSource(strings = { "locked", "fenced" })
	void annotatedMethodCanBeInvoked(String name) throws Exception {
		new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(this.hints, Annotated.class);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Annotated.class.getDeclaredMethod(name)))
			.accepts(this.hints);
	}

	@Test
	void attributesOfTheAnnotationAreKept() throws Exception {
		assertThat(
				RuntimeHintsPredicates.reflection().onMethodInvocation(DistributedLock.class.getDeclaredMethod("key")))
			.accepts(this.hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Fenced.class.getDeclaredMethod("guard")))
			.accepts(this.hints);
	}

	static class Annotated {

		@DistributedLock(key = "'k'")
		void locked() {
		}

		@Fenced
		void fenced() {
		}

	}

}
