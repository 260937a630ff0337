package io.github.lockspring.benchmarks.contention;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Sees whether two sections overlap, without asking the server that the locks are on: a
 * file that all processes map into their memory, with two numbers for each lock.
 * <p>
 * <i>Owner</i> goes from zero to the entering thread's number by compare-and-set, and
 * back; where that fails another thread was inside. <i>Count</i> is raised by a plain
 * read and a plain write, so an overlap would also lose an update. The compare-and-sets
 * have the effects of volatile accesses, on the same physical memory in each process: the
 * thread that enters sees the count that the previous one wrote.
 */
final class Cells {

	private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

	/** Two cache lines, so neighbours do not disturb each other. */
	private static final int SLOT = 128;

	private static final int COUNT = 8;

	private final ByteBuffer memory;

	private final int keys;

	private Cells(ByteBuffer memory, int keys) {
		this.memory = memory;
		this.keys = keys;
	}

	/**
	 * Maps the file, which is made if there is none.
	 * @param file a file, best on a file system in memory
	 * @param keys number of locks
	 */
	static Cells map(Path file, int keys) throws IOException {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE)) {
			MappedByteBuffer memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) keys * SLOT);
			return new Cells(memory, keys);
		}
	}

	/**
	 * Records the beginning of a section.
	 * @param key number of the lock
	 * @param who number of the thread, unique among all processes and not zero
	 * @return whether no other thread is inside
	 */
	boolean enter(int key, long who) {
		return LONGS.compareAndSet(this.memory, key * SLOT, 0L, who);
	}

	/**
	 * Counts a section, inside it.
	 */
	void count(int key) {
		int at = key * SLOT + COUNT;
		LONGS.set(this.memory, at, (long) LONGS.get(this.memory, at) + 1);
	}

	/**
	 * Records the end of a section.
	 * @return whether no other thread has been inside
	 */
	boolean exit(int key, long who) {
		return LONGS.compareAndSet(this.memory, key * SLOT, who, 0L);
	}

	/**
	 * The sections counted since {@link #clear()}, for all locks together.
	 */
	long counted() {
		long sum = 0;
		for (int key = 0; key < this.keys; key++) {
			sum += (long) LONGS.getVolatile(this.memory, key * SLOT + COUNT);
		}
		return sum;
	}

	void clear() {
		for (int key = 0; key < this.keys; key++) {
			LONGS.setVolatile(this.memory, key * SLOT, 0L);
			LONGS.setVolatile(this.memory, key * SLOT + COUNT, 0L);
		}
	}

}
