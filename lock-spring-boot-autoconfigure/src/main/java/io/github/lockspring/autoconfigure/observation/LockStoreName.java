package io.github.lockspring.autoconfigure.observation;

import java.util.Locale;
import java.util.function.Supplier;

import io.github.lockspring.store.LockStore;

import org.springframework.beans.factory.ListableBeanFactory;

/**
 * Names the store of an application for tags, without creating it: its class without
 * {@code LockStore}, in lower case.
 *
 * @param beans the beans of the application
 */
record LockStoreName(ListableBeanFactory beans) implements Supplier<String> {

	private static final String SUFFIX = LockStore.class.getSimpleName();

	@Override
	public String get() {
		String[] names = this.beans.getBeanNamesForType(LockStore.class, true, false);
		Class<?> type = (names.length == 1) ? this.beans.getType(names[0], false) : null;
		String name = (type != null) ? type.getSimpleName() : "";
		if (!name.endsWith(SUFFIX) || name.equals(SUFFIX)) {
			return (names.length > 0) ? "custom" : "none";
		}
		return name.substring(0, name.length() - SUFFIX.length()).toLowerCase(Locale.ROOT);
	}

}
