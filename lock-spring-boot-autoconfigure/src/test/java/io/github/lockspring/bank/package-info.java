/**
 * The bank test. Several processes move money between a few accounts while processes are
 * paused and Redis loses its data; an auditor checks that no money was created or lost.
 * <p>
 * Three JVMs use accounts in an H2 and in a PostgreSQL database, each transfer under the
 * locks of both accounts. With fencing, every account always equals the ledger, and a
 * late writer is refused. Without fencing and commit guard the same test must lose money;
 * otherwise it would prove nothing.
 * <p>
 * The build plays a few rounds. To play a thousand of each kind, which takes about half
 * an hour, or some of one kind: <pre>
 * mvn -Pbank -pl lock-spring-boot-autoconfigure -am test
 * mvn -Pbank -pl lock-spring-boot-autoconfigure -am test -Dbank.rounds=100 -Dtest='BankTests#fencingAlone*'
 * </pre> The test prints its seed ({@code -Dbank.seed=…} repeats the same choices), the
 * number of transfers by outcome, and the outcome of those that were delayed at a chosen
 * moment.
 */
@NullMarked
package io.github.lockspring.bank;

import org.jspecify.annotations.NullMarked;
