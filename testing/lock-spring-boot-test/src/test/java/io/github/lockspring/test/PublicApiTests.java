package io.github.lockspring.test;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the list of the types of this module that users may rely on.
 */
class PublicApiTests {

	@Test
	void typesThatArePublicAreOnTheList() throws IOException {
		Path classes = Path
			.of(URI.create(LockTester.class.getProtectionDomain().getCodeSource().getLocation().toString()));
		try (Stream<Path> files = Files.walk(classes)) {
			List<String> visible = files.map((file) -> classes.relativize(file).toString())
				.filter((file) -> file.endsWith(".class") && !file.contains("package-info") && !file.contains("$"))
				.map((file) -> file.substring(0, file.length() - ".class".length())
					.replace('/', '.')
					.replace('\\', '.'))
				.map((name) -> ClassUtils.resolveClassName(name, null))
				.filter((type) -> Modifier.isPublic(type.getModifiers()))
				.map(Class::getSimpleName)
				.toList();
			assertThat(visible).containsExactlyInAnyOrder("AutoConfigureDistributedLocks", "LockTester");
		}
	}

}
