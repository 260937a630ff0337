package io.github.lockspring.interceptor;

import java.time.Duration;
import java.util.function.BiFunction;
import java.util.function.Function;

import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.LockOptionException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockSpec;
import io.github.lockspring.OnBusy;
import io.github.lockspring.OnLost;
import io.github.lockspring.annotation.DistributedLock;
import io.github.lockspring.aop.AnnotatedMethod;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringUtils;

/**
 * Turns an annotation into a {@link LockOperation}. The bounds of the options are those
 * of {@link LockRequest}.
 */
final class LockOperationParser {

	private static final String DURATION_FORM = "Write a number and a unit (ms, s, m, h or d), as in \"30s\","
			+ " or the ISO form, as in \"PT30S\"";

	private final Function<String, @Nullable String> placeholders;

	LockOperationParser(Function<String, @Nullable String> placeholders) {
		this.placeholders = placeholders;
	}

	LockOperation parse(MergedAnnotation<DistributedLock> annotation, AnnotatedMethod method) {
		Attributes attributes = new Attributes(annotation, method);
		String name = attributes.name();
		OnBusy onBusy = annotation.getEnum("onBusy", OnBusy.class);
		LockRequest request = LockRequest.of(LockOperation.ANY_KEY)
			.name(!name.isEmpty() ? name : method.type().getSimpleName() + '.' + method.method().getName())
			.onLost(annotation.getEnum("onLost", OnLost.class));
		if (annotation.getBoolean("renew")) {
			request = request.renew();
		}
		if (onBusy == OnBusy.SKIP) {
			request = request.waitTime(Duration.ZERO);
		}
		request = attributes.duration("ttl", request, LockRequest::ttl);
		request = attributes.duration("waitTime", request, LockRequest::waitTime);
		request = attributes.duration("maxHold", request, LockRequest::maxHold);
		request = attributes.duration("minHold", request, LockRequest::minHold);
		return new LockOperation(method, name, attributes.key(), attributes.text("condition"), request, onBusy,
				attributes.text("fallback"));
	}

	private final class Attributes {

		private final MergedAnnotation<DistributedLock> annotation;

		private final AnnotatedMethod method;

		Attributes(MergedAnnotation<DistributedLock> annotation, AnnotatedMethod method) {
			this.annotation = annotation;
			this.method = method;
		}

		String text(String attribute) {
			String written = this.annotation.getString(attribute);
			try {
				String resolved = LockOperationParser.this.placeholders.apply(written);
				// Some contexts leave what they cannot resolve as it is
				if (resolved != null && resolved.contains("${")) {
					throw unresolvable(attribute, written, null);
				}
				return (resolved != null) ? resolved : "";
			}
			catch (IllegalArgumentException ex) {
				throw unresolvable(attribute, written, ex);
			}
		}

		private LockDefinitionException unresolvable(String attribute, String written, @Nullable Throwable cause) {
			return this.method.error(attribute, written, "the placeholder cannot be resolved",
					"Define the property, or give a default after a colon, as in \"${orders.ttl:30s}\"", cause);
		}

		String key() {
			String written = this.annotation.getString("key");
			String key = text("key");
			// An empty key means the method itself, which is not chosen by a property
			if (key.isBlank() && !written.isEmpty()) {
				throw error("key", written, "it is blank once its placeholders are resolved",
						"Give the property a value, or leave the key out to lock the method itself", null);
			}
			return key;
		}

		String name() {
			String name = text("name");
			if (name.contains("#{") || name.startsWith("#")) {
				throw error("name", name, "a name is a fixed text, no expression",
						"Put what differs from call to call into the key", null);
			}
			return name;
		}

		LockRequest duration(String attribute, LockRequest request,
				BiFunction<LockRequest, Duration, LockRequest> option) {
			String text = text(attribute);
			try {
				return text.isBlank() ? request : option.apply(request, duration(attribute, text));
			}
			catch (LockOptionException ex) {
				throw error(attribute, text, ex.getProblem(), ex.getRemedy(), ex);
			}
		}

		private Duration duration(String attribute, String text) {
			String duration = StringUtils.trimAllWhitespace(text);
			if (duration.matches("[+-]?\\d+")) {
				throw error(attribute, text, "the unit is missing", DURATION_FORM, null);
			}
			try {
				return DurationFormatterUtils.detectAndParse(duration);
			}
			catch (IllegalArgumentException ex) {
				if (ex.getCause() instanceof ArithmeticException || ex.getCause() instanceof NumberFormatException) {
					// More than a Duration can hold is refused as too long
					return LockSpec.MAX_DURATION.plusNanos(1);
				}
				throw error(attribute, text, "it is not a duration", DURATION_FORM, ex);
			}
		}

		private LockDefinitionException error(String attribute, String value, String problem, String remedy,
				@Nullable Throwable cause) {
			return this.method.error(attribute, value, problem, remedy, cause);
		}

	}

}
