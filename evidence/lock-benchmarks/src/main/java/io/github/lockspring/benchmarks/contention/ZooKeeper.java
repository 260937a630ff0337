package io.github.lockspring.benchmarks.contention;

import java.io.File;

import io.github.lockspring.testsupport.process.Conversation;
import org.apache.curator.test.TestingServer;

/**
 * A ZooKeeper server in a process of its own, until the standard input ends. Its files
 * are in memory where the system allows it, since Redis writes none: on a disk it would
 * wait for each of its transactions to be stored.
 */
public final class ZooKeeper {

	private ZooKeeper() {
	}

	/**
	 * Starts it and says where it is.
	 * @param args directory for its files
	 * @throws Exception if it does not start
	 */
	public static void main(String[] args) throws Exception {
		Conversation benchmark = new Conversation();
		TestingServer server = new TestingServer(-1, new File(args[0]), true);
		benchmark.say(server.getConnectString());
		// ends this process when the benchmark has ended
		benchmark.hear();
	}

}
