package io.github.lockspring.internal.interceptor;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.management.ObjectName;

import io.github.lockspring.DistributedLock;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The advice remembers nothing of the keys that it has seen.
 */
class ManyKeysTests {

	private static final int KEYS = 100_000;

	@Test
	void nothingIsKeptOfADistinctKey() throws Exception {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Service.class)) {
			RecordingLocks locks = context.getBean(RecordingLocks.class);
			Service service = context.getBean(Service.class);
			call(service, locks, 0, 1000);
			long before = liveObjects();
			call(service, locks, 1000, KEYS);
			assertThat(liveObjects() - before).as("objects kept of %d keys", KEYS).isLessThan(KEYS / 2);
		}
	}

	private static void call(Service service, RecordingLocks locks, int from, int to) {
		for (int i = from; i < to; i++) {
			service.variable("variable-" + i);
			service.property(new Order(i));
			service.concatenation("a" + i, "b" + i);
			service.collection(List.of("first-" + i, "second-" + i));
			assertThat(locks.requests).hasSize(4);
			locks.requests.clear();
		}
	}

	/** All objects of this process that can still be reached. */
	private static long liveObjects() throws Exception {
		String histogram = (String) ManagementFactory.getPlatformMBeanServer()
			.invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
					new Object[] { new String[0] }, new String[] { String[].class.getName() });
		Matcher total = Pattern.compile("^Total\\s+(\\d+)", Pattern.MULTILINE).matcher(histogram);
		assertThat(total.find()).as(histogram).isTrue();
		return Long.parseLong(total.group(1));
	}

	record Order(long id) {

		public long getId() {
			return this.id;
		}

	}

	static class Service {

		@DistributedLock(key = "#id")
		public void variable(String id) {
		}

		@DistributedLock(key = "#order.id")
		public void property(Order order) {
		}

		@DistributedLock(key = "#a + ':' + #b")
		public void concatenation(String a, String b) {
		}

		@DistributedLock(key = "#ids")
		public void collection(List<String> ids) {
		}

	}

}
