package io.github.lockspring.etcd;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.GetOption.SortOrder;
import io.etcd.jetcd.options.GetOption.SortTarget;
import io.etcd.jetcd.options.PutOption;
import io.github.lockspring.internal.queue.Entry;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * The names of keys, and the operations on them.
 *
 * @param root the prefix of all keys
 * @param floor added to revisions for fencing tokens
 */
/*
 * For maintainers: the keys of an instance in one queue have one name, one after the
 * other. Servers keep the names of deleted keys until they compact their data, and read
 * all of them to find a prefix.
 */
record EtcdKeys(String root, long floor) {

	/** Returns the prefix of the guards of an instance, which no lock has. */
	String guards(String instance) {
		return this.root + ":lease/" + instance + "/";
	}

	ByteSequence queue(String key) {
		return bytes(this.root + URLEncoder.encode(key, StandardCharsets.UTF_8) + "/");
	}

	ByteSequence name(String key, OwnerToken token) {
		return queue(key).concat(bytes(token.instance()));
	}

	/** Returns the prefix of the queue that an entry is in. */
	static ByteSequence queueOf(ByteSequence name) {
		String text = name.toString(StandardCharsets.UTF_8);
		return bytes(text.substring(0, text.lastIndexOf('/') + 1));
	}

	static ByteSequence name(Entry entry) {
		return (entry instanceof EtcdEntry.Mine mine) ? mine.name() : ((EtcdEntry) entry).name();
	}

	static long revision(Entry entry) {
		return (entry instanceof EtcdEntry.Mine mine) ? mine.revision() : ((EtcdEntry) entry).revision();
	}

	Entry.Content content(KeyValue found) {
		return EtcdEntry.content(found, this.floor);
	}

	EtcdEntry.Mine mine(KeyValue found, EtcdLease lease) {
		return new EtcdEntry.Mine(EtcdEntry.of(found), this.floor, found.getModRevision(), lease);
	}

	/** Returns the key that was read; null if it is not there. */
	static @Nullable KeyValue found(GetResponse response) {
		return response.getKvs().isEmpty() ? null : response.getKvs().get(0);
	}

	// operations

	static Cmp created(ByteSequence name, long revision) {
		return new Cmp(name, Cmp.Op.EQUAL, CmpTarget.createRevision(revision));
	}

	static Cmp modified(ByteSequence name, long revision) {
		return new Cmp(name, Cmp.Op.EQUAL, CmpTarget.modRevision(revision));
	}

	static Op put(ByteSequence name, ByteSequence value, long lease) {
		return Op.put(name, value, PutOption.builder().withLeaseId(lease).build());
	}

	static Op get(ByteSequence name) {
		return Op.get(name, GetOption.DEFAULT);
	}

	static Op delete(ByteSequence name) {
		return Op.delete(name, DeleteOption.DEFAULT);
	}

	static Op first(ByteSequence queue) {
		return Op.get(queue, byCreation(SortOrder.ASCEND, 1).build());
	}

	static Op last(ByteSequence queue, long limit) {
		return Op.get(queue, byCreation(SortOrder.DESCEND, limit).build());
	}

	static Op lastBefore(ByteSequence queue, long revision) {
		return Op.get(queue, byCreation(SortOrder.DESCEND, 1).withMaxCreateRevision(revision - 1).build());
	}

	static Op all(ByteSequence queue) {
		return Op.get(queue, byCreation(SortOrder.ASCEND, 0).build());
	}

	private static GetOption.Builder byCreation(SortOrder order, long limit) {
		return GetOption.builder()
			.isPrefix(true)
			.withSortField(SortTarget.CREATE)
			.withSortOrder(order)
			.withLimit(limit);
	}

	static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

}
