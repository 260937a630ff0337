package io.github.lockspring.model.zookeeper;

import java.util.Arrays;

/**
 * New names for the sessions and transactions of a state, so that states which differ in
 * names only are one state. First collects what there is, then renames it. Not
 * thread-safe.
 */
final class Names {

	/** The transaction of the step that is being taken; larger than all others. */
	static final int NEW_ZXID = 100;

	private static final int SESSIONS = 16;

	private final int[] sessions = new int[Byte.MAX_VALUE];

	private final int[] numbers = new int[Byte.MAX_VALUE / SESSIONS];

	private final int[] zxids = new int[NEW_ZXID + 1];

	private boolean collects;

	/** The session that an instance has just begun. */
	static int newSession(int instance) {
		return instance * SESSIONS + SESSIONS - 1;
	}

	static String session(String prefix, int session) {
		return (session == 0) ? "-" : prefix + World.name(session / SESSIONS) + session % SESSIONS;
	}

	void collect() {
		Arrays.fill(this.sessions, 0);
		Arrays.fill(this.numbers, 0);
		Arrays.fill(this.zxids, 0);
		this.collects = true;
	}

	void rename() {
		int next = 0;
		for (int zxid = 1; zxid < this.zxids.length; zxid++) {
			if (this.zxids[zxid] != 0) {
				this.zxids[zxid] = ++next;
			}
		}
		this.collects = false;
	}

	boolean knows(int session) {
		return this.sessions[session] != 0;
	}

	int session(int session) {
		if (session == 0) {
			return 0;
		}
		if (this.sessions[session] == 0) {
			int instance = session / SESSIONS;
			this.sessions[session] = instance * SESSIONS + ++this.numbers[instance];
		}
		return this.collects ? session : this.sessions[session];
	}

	int zxid(int zxid) {
		if (this.collects && zxid != 0) {
			this.zxids[zxid] = 1;
		}
		return this.collects ? zxid : this.zxids[zxid];
	}

}
