package io.github.lockspring.internal.interceptor;

import java.time.Duration;
import java.util.function.BiFunction;
import java.util.function.Function;

import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.OnBusy;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.aop.AnnotatedMethod;
import io.github.lockspring.internal.aop.Suggestions;
import io.github.lockspring.internal.base.LockOptionException;
import io.github.lockspring.internal.base.LockOptions;
import org.jspecify.annotations.Nullable;

import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringUtils;

/**
 * Turns an annotation into a {@link LockOperation}. The bounds of the options are those
 * of {@link LockRequest}. One for each annotation.
 *
 * @param method the annotated method
 * @param placeholders resolves the placeholders of a text
 */
record LockOperationParser(AnnotatedMethod method, Function<String, @Nullable String> placeholders) {

	private static final String DURATION_FORM = "Write a number and a unit (ms, s, m, h or d), as in \"30s\","
			+ " or the ISO form, as in \"PT30S\"";

	/**
	 * Parses the annotation.
	 * @return the operation
	 * @throws LockDefinitionException if an attribute is wrong
	 */
	LockOperation parse() {
		String name = name();
		OnBusy onBusy = this.method.annotation().getEnum("onBusy", OnBusy.class);
		LockRequest request = LockRequest.of(LockOperation.ANY_KEY)
			.onLost(this.method.annotation().getEnum("onLost", OnLost.class))
			.renew(this.method.annotation().getBoolean("renew"));
		if (onBusy != OnBusy.THROW) {
			request = request.waitTime(Duration.ZERO);
		}
		request = duration("ttl", request, LockOperationParser::ttl);
		request = duration("waitTime", request, LockRequest::waitTime);
		request = duration("maxHold", request, LockRequest::maxHold);
		request = duration("minHold", request, LockRequest::minHold);
		checkTogether(request);
		return new LockOperation(this.method, name, key(), request, onBusy);
	}

	/** One that is renewed has the larger bound, which is said at once. */
	private static LockRequest ttl(LockRequest request, Duration ttl) {
		LockOptions.checkTogether(ttl, request.isRenewed(), null);
		return request.ttl(ttl);
	}

	private void checkTogether(LockRequest request) {
		try {
			LockOptions.checkTogether(request.ttl(), request.isRenewed(), request.maxHold());
		}
		catch (LockOptionException ex) {
			throw this.method.error(ex.getOption(), text(ex.getOption()), ex.getProblem(), ex.getRemedy(), ex);
		}
	}

	private String text(String attribute) {
		String written = this.method.annotation().getString(attribute);
		try {
			String resolved = this.placeholders.apply(written);
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
		String remedy = switch (attribute) {
			case "key" -> "\"${orders.key:'all'}\". A value of the call is written with #, as in #id";
			case "name" -> "\"${orders.name:order}\"";
			default -> "\"${orders.ttl:30s}\"";
		};
		return this.method.error(attribute, written, "the placeholder cannot be resolved",
				"Define the property, or give a default after a colon, as in " + remedy, cause);
	}

	private String key() {
		String written = this.method.annotation().getString("key");
		String key = text("key");
		// An empty key means the method itself, which is not chosen by a property
		if (key.isBlank() && !written.isEmpty()) {
			throw this.method.error("key", written, "it is blank once its placeholders are resolved",
					"Give the property a value, or leave the key out to lock the method itself", null);
		}
		return key;
	}

	private String name() {
		String name = text("name");
		if (name.contains("#{") || name.startsWith("#")) {
			throw this.method.error("name", name, "a name is a fixed text, no expression",
					"Put what differs from call to call into the key", null);
		}
		return name;
	}

	private LockRequest duration(String attribute, LockRequest request,
			BiFunction<LockRequest, Duration, LockRequest> option) {
		String text = text(attribute);
		try {
			return text.isBlank() ? request : option.apply(request, duration(attribute, text));
		}
		catch (LockOptionException ex) {
			throw this.method.error(attribute, text, ex.getProblem(), ex.getRemedy(), ex);
		}
	}

	private Duration duration(String attribute, String text) {
		String duration = StringUtils.trimAllWhitespace(text);
		if (duration.matches("[+-]?\\d+")) {
			throw this.method.error(attribute, text, "the unit is missing", DURATION_FORM, null);
		}
		try {
			return DurationFormatterUtils.detectAndParse(duration);
		}
		catch (IllegalArgumentException ex) {
			if (ex.getCause() instanceof ArithmeticException || ex.getCause() instanceof NumberFormatException) {
				// More than a Duration can hold is refused as too long
				return LockOptions.MAX_DURATION.plusNanos(1);
			}
			throw this.method.error(attribute, text, "it is not a duration",
					Suggestions.duration(duration).map("Did you mean \"%s\"? "::formatted).orElse("") + DURATION_FORM,
					ex);
		}
	}

}
