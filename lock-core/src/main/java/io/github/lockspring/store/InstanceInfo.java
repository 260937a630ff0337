package io.github.lockspring.store;

/**
 * Describes an instance of an application, to tell people which one holds a lock.
 * Immutable.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @param application the name of the application, empty if it has none
 * @param host the name of the machine, container or pod
 * @param pid the process id on that host
 * @since 0.1
 */
public record InstanceInfo(String application, String host, long pid) {

	/**
	 * Describes the instance as part of a sentence.
	 * @return for example {@code billing on billing-7c9f, pid 41}
	 */
	@Override
	public String toString() {
		return (this.application.isEmpty() ? "" : this.application + " on ") + this.host + ", pid " + this.pid;
	}

}
