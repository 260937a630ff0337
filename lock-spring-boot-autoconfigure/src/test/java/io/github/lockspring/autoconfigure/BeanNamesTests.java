package io.github.lockspring.autoconfigure;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.context.annotation.Bean;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every bean has the name that ADR 15 gives it, so that it collides with no bean of
 * another library.
 */
class BeanNamesTests {

	@ParameterizedTest
	@MethodSource("beanMethods")
	void beanIsNamedAfterTheLibraryAndItsType(Method method) {
		assertThat(method.getAnnotation(Bean.class).value()).isEmpty();
		String type = method.getReturnType().getSimpleName();
		// the name of a health indicator is shown to users
		assertThat(method.getName())
			.startsWith(type.endsWith("HealthIndicator") ? StringUtils.uncapitalize(type) : "lockspring")
			.endsWithIgnoringCase(type);
	}

	private static Stream<Class<?>> withNested(Class<?> type) {
		return Stream.concat(Stream.of(type),
				Arrays.stream(type.getDeclaredClasses()).flatMap(BeanNamesTests::withNested));
	}

	static Stream<Method> beanMethods() {
		return Arrays.stream(Applications.registered())
			.flatMap(BeanNamesTests::withNested)
			.flatMap((type) -> Arrays.stream(type.getDeclaredMethods()))
			.filter((method) -> method.isAnnotationPresent(Bean.class));
	}

}
