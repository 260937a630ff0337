package io.github.lockspring.zookeeper;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.zookeeper.AsyncCallback.ChildrenCallback;
import org.apache.zookeeper.AsyncCallback.VoidCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * A client of a server that shows an earlier list of children until it is synchronized.
 */
final class LaggingHandle extends ZooKeeper {

	private final AtomicInteger syncs = new AtomicInteger();

	private volatile @Nullable List<String> shown;

	LaggingHandle(String servers, int sessionTimeout, Watcher watcher) throws IOException {
		super(servers, sessionTimeout, watcher);
	}

	void lag(List<String> earlier) {
		this.shown = earlier;
	}

	int syncs() {
		return this.syncs.get();
	}

	@Override
	public void sync(String path, VoidCallback callback, @Nullable Object context) {
		this.syncs.incrementAndGet();
		this.shown = null;
		super.sync(path, callback, context);
	}

	@Override
	public void getChildren(String path, boolean watch, ChildrenCallback callback, @Nullable Object context) {
		List<String> earlier = this.shown;
		super.getChildren(path, watch, (code, node, ignored, children) -> {
			if (earlier != null) {
				callback.processResult(Code.OK.intValue(), node, context, earlier);
			}
			else {
				callback.processResult(code, node, context, children);
			}
		}, null);
	}

}
