package io.github.lockspring.etcd;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.github.lockspring.internal.base.MonotonicClock;
import io.github.lockspring.testsupport.etcd.EtcdProcess;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients for tests.
 */
final class Clients {

	private Clients() {
	}

	static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

	static Client of(String... addresses) {
		return builder(addresses).build();
	}

	/** A store on the shared server. */
	static EtcdLockStore store() {
		return store(MonotonicClock.SYSTEM);
	}

	/** A store on the shared server, for contracts. */
	static EtcdLockStore store(LongSupplier clock) {
		return EtcdLockStore.builder(() -> of(EtcdProcess.shared().address()))
			.commandTimeout(Duration.ofSeconds(5))
			.connectTimeout(Duration.ofSeconds(10))
			.clock(clock)
			.build();
	}

	static ClientBuilder builder(String... addresses) {
		return Client.builder()
			.endpoints(addresses)
			.connectTimeout(Duration.ofSeconds(2))
			.retryMaxAttempts(1)
			.waitForReady(false);
	}

	/**
	 * Makes clients, and counts those that are open. Thread-safe.
	 */
	static final class Counted implements Supplier<Client>, AutoCloseable {

		private final ClientBuilder builder;

		private final AtomicInteger made = new AtomicInteger();

		private final AtomicInteger open = new AtomicInteger();

		Counted(ClientBuilder builder) {
			this.builder = builder;
		}

		@Override
		public Client get() {
			Client client = this.builder.build();
			this.made.incrementAndGet();
			this.open.incrementAndGet();
			InvocationHandler handler = (proxy, method, arguments) -> {
				if (method.getName().equals("close")) {
					this.open.decrementAndGet();
				}
				return method.invoke(client, arguments);
			};
			return (Client) Proxy.newProxyInstance(Client.class.getClassLoader(), new Class<?>[] { Client.class },
					handler);
		}

		int made() {
			return this.made.get();
		}

		int open() {
			return this.open.get();
		}

		/** Fails if a client was not closed, or twice. */
		@Override
		public void close() {
			assertThat(this.open).as("clients that are open, of %s", this.made).hasValue(0);
		}

	}

}
