package io.github.lockspring.benchmarks.contention;

import java.io.File;
import java.io.PrintStream;

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
		PrintStream answers = System.out;
		System.setOut(System.err);
		try (TestingServer server = new TestingServer(-1, new File(args[0]), true)) {
			answers.println(server.getConnectString());
			while (System.in.read() >= 0) {
				// nothing is ever said
			}
		}
		System.exit(0);
	}

}
