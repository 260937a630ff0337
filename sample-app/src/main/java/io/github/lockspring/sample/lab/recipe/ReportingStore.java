package io.github.lockspring.sample.lab.recipe;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;

import io.github.lockspring.sample.lab.worker.Shop;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * Reports what Lockspring asks its store, and lets the lab hold it there.
 */
final class ReportingStore {

	private final LockStore store;

	private final Shop shop;

	private ReportingStore(LockStore store, Shop shop) {
		this.store = store;
		this.shop = shop;
	}

	static LockStore around(LockStore store, Shop shop) {
		ReportingStore reporting = new ReportingStore(store, shop);
		return (LockStore) Proxy.newProxyInstance(LockStore.class.getClassLoader(), new Class<?>[] { LockStore.class },
				(proxy, method, arguments) -> reporting.invoke(method, arguments));
	}

	private @Nullable Object invoke(Method method, Object @Nullable [] arguments) throws Throwable {
		if (arguments != null && method.getName().equals("inbox")) {
			return call(method, new Object[] { arguments[0], reporting((InboxListener) arguments[1]) });
		}
		if (arguments == null || arguments.length != 2 || !(arguments[1] instanceof Duration)) {
			return call(method, arguments);
		}
		this.shop.reach("before " + method.getName());
		long sent = System.nanoTime();
		String answer = "";
		try {
			Object result = call(method, arguments);
			answer = String.valueOf(result);
			if (result instanceof List<?> results && results.contains(RenewResult.RENEWED)) {
				this.shop.renewed(sent + this.shop.ttl().toNanos());
			}
			return result;
		}
		catch (Throwable ex) {
			answer = String.valueOf(ex.getMessage());
			throw ex;
		}
		finally {
			this.shop.report("command", "command", method.getName() + ".lua " + describe(arguments[0]), "answer",
					answer, "tookMillis", (System.nanoTime() - sent) / 1e6, "to", this.shop.server());
		}
	}

	private InboxListener reporting(InboxListener listener) {
		return new InboxListener() {

			@Override
			public void granted(String key, OwnerToken token, long fencingToken, boolean othersWait) {
				ReportingStore.this.shop.report("message", "text", "granted " + key + " to " + token, "token",
						fencingToken);
				listener.granted(key, token, fencingToken, othersWait);
			}

			@Override
			public void wanted(String key, OwnerToken token) {
				ReportingStore.this.shop.report("message", "text", "another instance waits for " + key);
				listener.wanted(key, token);
			}

			@Override
			public void opened() {
				listener.opened();
			}

		};
	}

	private @Nullable Object call(Method method, Object @Nullable [] arguments) throws Throwable {
		try {
			return method.invoke(this.store, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	private static String describe(Object request) {
		if (request instanceof AcquireRequest acquire) {
			return acquire.key() + " " + acquire.token() + " PX " + acquire.ttl().toMillis() + " "
					+ acquire.queueMode();
		}
		if (request instanceof ReleaseRequest release) {
			return release.key() + " " + release.token();
		}
		if (request instanceof List<?> list && !list.isEmpty() && list.get(0) instanceof RenewRequest renew) {
			return renew.key() + " " + renew.token() + " PX " + renew.ttl().toMillis();
		}
		return String.valueOf(request);
	}

}
