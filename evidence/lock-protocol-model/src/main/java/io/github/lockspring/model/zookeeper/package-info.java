/**
 * The protocol of queues of entries on ZooKeeper as a model: sessions, ephemeral
 * sequential nodes, and servers that show an earlier state. {@code NodesRuleTests}
 * switches each rule off, {@code NodesModelTests} explores the complete protocol. When
 * you change a rule, change it here first.
 * <p>
 * What had to be settled, and what the model found:
 * <ul>
 * <li>What a former connection has sent may be carried out until the session has moved.
 * So there is no guard: after a reconnection {@code sync} and {@code getChildren} tell
 * whether there is a node.
 * <li>That a removal is final and that a list is up to date: for two holders both rules
 * must be off. The second one is needed all the same: a node that is overlooked is before
 * the next one of its own token, which waits for ever.
 * <li>Once a session was given up, an unanswered addition of it is left to its end; a
 * caller that gives up then has nothing to settle.
 * <li>The first node of a session that is not proven is not owned yet, and its place is
 * asked for once there is a proof. Asked before that, it is asked without an end.
 * <li><b>Proofs (Z7).</b> A tick is a sixth of the timeout; a server reports within less
 * than two ticks, and a client leaves a server that is silent for four. Proofs count from
 * their sending, the beginning of a session is one, a reconnection is none.
 * </ul>
 * Not in the model: a floor for tokens, several locks, local hand-offs, and leaders that
 * are replaced.
 */
@NullMarked
package io.github.lockspring.model.zookeeper;

import org.jspecify.annotations.NullMarked;
