package io.github.lockspring.lab.history;

import java.util.Map;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonIgnore;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened in a run.
 *
 * @param i its number, in the order in which the lab heard of it, from 0
 * @param at when it happened, in milliseconds since the run began
 * @param lane what it happened to, such as {@code shop-1}
 * @param type what happened, such as {@code acquired}
 * @param details further facts by name
 */
public record LabEvent(int i, double at, String lane, String type, @JsonAnyGetter Map<String, Object> details) {

	/**
	 * Returns whether this is an event of one of these types.
	 * @param types the types
	 * @return whether it is
	 */
	public boolean is(String... types) {
		for (String each : types) {
			if (this.type.equals(each)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Returns the hold that the event belongs to.
	 * @return the hold, or null
	 */
	@JsonIgnore
	public @Nullable String hold() {
		return (String) this.details.get("hold");
	}

	/**
	 * Returns a fact that is a number.
	 * @param name the name of the fact
	 * @return the number, or null
	 */
	public @Nullable Double number(String name) {
		return (this.details.get(name) instanceof Number number) ? number.doubleValue() : null;
	}

	/**
	 * Returns a fact that is text.
	 * @param name the name of the fact
	 * @return the text, empty if there is none
	 */
	public String text(String name) {
		return String.valueOf(this.details.getOrDefault(name, ""));
	}

}
