/**
 * The protocol of {@code docs/understand/protocol.md} as a model that is explored
 * completely: every order of its steps, for a few instances and a few faults. When you
 * change a rule of the protocol, change it here first.
 * <p>
 * Two or three instances, the scripts, commands and messages that are late, lost or
 * doubled, crashes, and a store that loses its data. Breadth first, the model tries every
 * order of these steps, and looks for two valid holders, fencing tokens that do not grow,
 * work on a lease that is over, waiters that wait for ever, and a lock that is idle for
 * longer than a retry takes although an instance waits. {@code RuleTests} switches each
 * rule of the protocol off and sees the model find what goes wrong without it; the
 * shortest ways there are in {@code target/traces}.
 * <p>
 * The packages {@code etcd} and {@code zookeeper} are models of queues of entries, with
 * the same search.
 * <p>
 * The build explores the first states of each scenario. To explore all of them, which
 * needs 8 GB, or a million of each: <pre>
 * mvn -Pmodel -pl :lock-protocol-model test
 * mvn -Pmodel -pl :lock-protocol-model test -Dlockspring.model.states=1000000
 * </pre>
 */
@NullMarked
package io.github.lockspring.model;

import org.jspecify.annotations.NullMarked;
