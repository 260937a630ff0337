package io.github.lockspring.autoconfigure.actuate;

import java.security.Principal;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.autoconfigure.actuate.LockDescriptors.ForcedRelease;
import io.github.lockspring.autoconfigure.actuate.LockDescriptors.Key;
import io.github.lockspring.autoconfigure.actuate.LockDescriptors.Local;
import io.github.lockspring.autoconfigure.actuate.LockDescriptors.Locks;
import io.github.lockspring.autoconfigure.actuate.LockDescriptors.Problem;
import io.github.lockspring.autoconfigure.actuate.LockDescriptors.Stored;
import io.github.lockspring.autoconfigure.internal.CreatedEngine;
import io.github.lockspring.internal.engine.LockEngine.LocalLock;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStoreInspector;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * Shows the locks that this instance holds or waits for and, asked for one key, its state
 * in the store. Releases a lock by force where
 * {@code management.endpoint.distributedlocks.access=unrestricted} or another setting of
 * Spring Boot that means the same:
 * {@code management.endpoint.distributedlocks.enabled=true} and, for all endpoints
 * without a setting of their own,
 * {@code management.endpoints.access.default=unrestricted} and
 * {@code management.endpoints.enabled-by-default=true}. Thread-safe.
 * <p>
 * The key is a query parameter and not part of the path: servers refuse encoded slashes
 * in a path, and {@code a//b} would arrive as the key {@code a/b}, which is another lock.
 */
@WebEndpoint(id = "distributedlocks", defaultAccess = Access.READ_ONLY)
final class DistributedLocksEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(DistributedLocksEndpoint.class);

	private static final int DEFAULT_SIZE = 100;

	private static final int MAX_SIZE = 1000;

	private static final int NOT_IMPLEMENTED = 501;

	/** Longest first; what is not held, last. */
	private static final Comparator<LocalLock> ORDER = Comparator
		.comparingLong((LocalLock lock) -> (lock.hold() != null) ? -lock.hold().heldFor().toNanos() : 0)
		.thenComparing(LocalLock::key);

	private final CreatedEngine engine;

	private final Duration timeout;

	/**
	 * Creates the endpoint.
	 * @param timeout the longest wait for the store
	 */
	DistributedLocksEndpoint(CreatedEngine engine, Duration timeout) {
		this.engine = engine;
		this.timeout = timeout;
	}

	/**
	 * Shows locks.
	 * @param key shows the lock of this key, also if another instance holds it; null: all
	 * that this instance holds or waits for, those first that it has held longest
	 * @param page which page of them, from 0; null: the first
	 * @param size length of a page, 1 to 1,000; null: 100
	 * @return {@link Locks}, {@link Key} or {@link Problem}
	 */
	@ReadOperation
	public WebEndpointResponse<?> locks(@Nullable String key, @Nullable Integer page, @Nullable Integer size) {
		return (key != null) ? lock(key) : page((page != null) ? page : 0, (size != null) ? size : DEFAULT_SIZE);
	}

	private WebEndpointResponse<?> page(int page, int size) {
		if (page < 0 || size < 1 || size > MAX_SIZE) {
			return problem(WebEndpointResponse.STATUS_BAD_REQUEST,
					"page must be 0 or more and size 1 to " + MAX_SIZE + ", not " + page + " and " + size);
		}
		List<LocalLock> locks = this.engine.find().map(LockEngine::locks).orElse(List.of());
		List<Local> shown = locks.stream().sorted(ORDER).skip((long) page * size).limit(size).map(Local::of).toList();
		return new WebEndpointResponse<>(new Locks((int) locks.stream().filter((lock) -> lock.hold() != null).count(),
				locks.stream().mapToInt(LocalLock::waiting).sum(), page, size, locks.size(), shown));
	}

	private WebEndpointResponse<?> lock(String key) {
		LockEngine present = this.engine.find().orElse(null);
		if (present == null) {
			return problem(WebEndpointResponse.STATUS_NOT_FOUND,
					"This instance has requested no lock since its start, so it knows of none. Ask another one");
		}
		Local here = present.lock(key).map(Local::of).orElse(null);
		try {
			Stored stored = present.inspector().flatMap((inspector) -> stored(inspector, key)).orElse(null);
			return (here == null && stored == null) ? notHeld(key)
					: new WebEndpointResponse<>(new Key(key, here, stored, null));
		}
		catch (LockUnavailableException ex) {
			return new WebEndpointResponse<>(new Key(key, here, null, "The store cannot be asked: " + ex.getMessage()),
					(here != null) ? WebEndpointResponse.STATUS_OK : WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
		}
	}

	private Optional<Stored> stored(LockStoreInspector inspector, String key) {
		return inspector.find(key, this.timeout).map((lock) -> {
			List<String> instances = Stream.concat(lock.instance().stream(), lock.queue().stream()).toList();
			Map<String, InstanceInfo> known = instances.isEmpty() ? Map.of()
					: inspector.instances(instances, this.timeout);
			return Stored.of(lock, known);
		});
	}

	/**
	 * Releases a lock by force, in this instance or another. The work of its holder goes
	 * on.
	 * @param key the key
	 * @param security identifies the user
	 * @return {@link ForcedRelease} or {@link Problem}
	 */
	@DeleteOperation
	public WebEndpointResponse<?> release(String key, SecurityContext security) {
		LockEngine present = this.engine.find().orElse(null);
		if (present == null) {
			return problem(WebEndpointResponse.STATUS_NOT_FOUND,
					"This instance has requested no lock since its start, so it cannot release one. Ask another one");
		}
		Principal principal = security.getPrincipal();
		String user = (principal != null) ? principal.getName() : "an anonymous user";
		try {
			Stored before = present.inspector().flatMap((inspector) -> stored(inspector, key)).orElse(null);
			if (!present.forceRelease(key)) {
				return notHeld(key);
			}
			logger.warn("Lock '{}' was released by force by {}. Its holder was {}", key, user,
					(before != null) ? before.holder() : "this instance");
			return new WebEndpointResponse<>(new ForcedRelease(key, before));
		}
		catch (LockUnavailableException ex) {
			return problem(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE,
					"The store cannot be asked: " + ex.getMessage());
		}
		catch (UnsupportedOperationException ex) {
			return problem(NOT_IMPLEMENTED, String.valueOf(ex.getMessage()));
		}
	}

	private static WebEndpointResponse<Problem> notHeld(String key) {
		return problem(WebEndpointResponse.STATUS_NOT_FOUND,
				"Lock '" + key + "' is free, and no caller of this instance waits for it. A key is written as"
						+ " messages print it: with the annotation's name, without the prefix of the store");
	}

	private static WebEndpointResponse<Problem> problem(int status, String reason) {
		return new WebEndpointResponse<>(new Problem(reason), status);
	}

}
