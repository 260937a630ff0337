package io.github.lockspring.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.function.Function;

import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.LockSpec;
import io.github.lockspring.OnBusy;
import io.github.lockspring.OnLost;
import io.github.lockspring.annotation.DistributedLock;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotation;

/**
 * Turns an annotation into a {@link LockOperation}.
 */
final class LockOperationParser {

	private final Function<String, @Nullable String> placeholders;

	LockOperationParser(Function<String, @Nullable String> placeholders) {
		this.placeholders = placeholders;
	}

	LockOperation parse(MergedAnnotation<DistributedLock> annotation, LockSite site, Method declared) {
		Attributes attributes = new Attributes(annotation, site);
		boolean renewAsked = annotation.getBoolean("renew");
		OnBusy onBusy = annotation.getEnum("onBusy", OnBusy.class);
		Duration ttl = attributes.duration("ttl", (renewAsked) ? LockSpec.MIN_RENEWED_TTL : LockSpec.MIN_TTL,
				(renewAsked) ? "too short to be renewed in time" : "too short to outlast a round trip");
		boolean renew = renewAsked || ttl == null;
		Duration waitTime = attributes.duration("waitTime", Duration.ZERO, "");
		if (waitTime == null && onBusy == OnBusy.SKIP) {
			waitTime = Duration.ZERO;
		}
		Duration minHold = attributes.duration("minHold", Duration.ZERO, "");
		return new LockOperation(site.type(), site.method(), declared, attributes.key(), attributes.name(), ttl, renew,
				waitTime, attributes.maxHold(ttl, renew), (minHold != null) ? minHold : Duration.ZERO, onBusy,
				attributes.text("condition"), attributes.text("fallback"), annotation.getEnum("onLost", OnLost.class));
	}

	private final class Attributes {

		private final MergedAnnotation<DistributedLock> annotation;

		private final LockSite site;

		Attributes(MergedAnnotation<DistributedLock> annotation, LockSite site) {
			this.annotation = annotation;
			this.site = site;
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
			return this.site.error(attribute, written, "the placeholder cannot be resolved",
					"Define the property, or give a default after a colon, as in \"${orders.ttl:30s}\"", cause);
		}

		String key() {
			String written = this.annotation.getString("key");
			String key = text("key");
			// An empty key means the method itself: nobody asks for that with a property
			if (key.isBlank() && !written.isEmpty()) {
				throw this.site.error("key", written, "it is blank once its placeholders are resolved",
						"Give the property a value, or leave the key out to lock the method itself");
			}
			return key;
		}

		String name() {
			String name = text("name");
			if (name.contains("#{") || name.startsWith("#")) {
				throw this.site.error("name", name, "a name is a fixed text, no expression",
						"Put what differs from call to call into the key");
			}
			return name;
		}

		@Nullable Duration maxHold(@Nullable Duration ttl, boolean renew) {
			Duration maxHold = duration("maxHold", LockSpec.MIN_RENEWED_TTL, "too short to be renewed in time");
			if (maxHold == null) {
				return null;
			}
			if (!renew) {
				throw this.site.error("maxHold", text("maxHold"),
						"it limits the renewal, and this lock is not renewed: its ttl already bounds it",
						"Add renew = true, or leave maxHold out");
			}
			if (ttl != null && maxHold.compareTo(ttl) < 0) {
				throw this.site.error("maxHold", text("maxHold"), "it is shorter than the ttl of " + text("ttl"),
						"Make maxHold longer or the ttl shorter");
			}
			return maxHold;
		}

		@Nullable Duration duration(String attribute, Duration min, String minReason) {
			String text = text(attribute);
			return (text.isBlank()) ? null : LockDurations.parse(this.site, attribute, text, min, minReason);
		}

	}

}
