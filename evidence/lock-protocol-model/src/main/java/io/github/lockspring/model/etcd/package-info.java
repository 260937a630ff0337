/**
 * The protocol of queues of entries on etcd as a model: an instance, its leases with
 * their guards, and for each lock its tokens, one after the other.
 * {@code EntriesRuleTests} switches each rule off and sees what goes wrong without it;
 * {@code EntriesModelTests} explores the complete protocol. When you change a rule,
 * change it here first.
 * <p>
 * What had to be settled, and what the model found:
 * <ul>
 * <li><b>Guard and lease.</b> A guard is named after its lease. Named after the lease's
 * length, a late {@code begin} moves it, and an instance takes a lease that lives for
 * lost. If it is named so all the same, a read must compare the guard's lease, or there
 * are two holders once "renewed" is said of a lease that is gone. A guard that is gone or
 * on another lease: begin anew; on this lease with another modification: add with that
 * one.
 * <li><b>Who repeats a removal.</b> It is repeated until it is answered, also after its
 * lease is taken for lost. The next token of the instance adds after that.
 * <li><b>An entry of the same token (E11)</b> is adopted if it is on any of the leases
 * that are present: attempts of a token differ in their ttl, so one may name the other
 * lease, remove the entry without an answer, and a later one find it on the right lease.
 * An entry of another token, or on a lease that is lost, is removed first. It is not
 * adopted later, so the next addition need not wait until its removal is answered.
 * <li><b>Unanswered additions belong to a lease</b>, and a removal settles those on each.
 * They are forgotten with it: nobody renews it, so what they add ends by itself.
 * <li><b>Grants.</b> The first entry whose leases are not proven is not owned yet: the
 * place is asked for again, which counts from that request.
 * <li><b>Keep against a late raise.</b> A raise is refused by an entry that was modified
 * since its creation; otherwise an entry that is kept stays for ever. A raise that is
 * repeated then finds the work of its first attempt, so its other branch reads the name:
 * the entry on the lease that the raise names is raised. Only an entry that is gone is
 * lost.
 * <li><b>Repeated additions.</b> It suffices to count each one that a client library may
 * repeat as unanswered.
 * <li><b>A raise (E18)</b> goes to a proven lease. From its sending both leases count, so
 * the proof of the target is for the hold to last; without it nothing was explored.
 * <li><b>Restores (E19).</b> A backup is taken at any time, and restored at any later
 * one. A hold of before goes on until its owner receives an answer of a transaction, at
 * most for what was proven before; until then there may be another holder. After that
 * there is one at most, and no lock stays blocked. That tokens grow is promised between
 * two restores only: across one it takes a floor. In the model an answer shows that it is
 * of another past. In etcd this takes another cluster identifier, or a revision that has
 * not yet grown past the one received before. Where neither shows it, such as with
 * {@code --bump-revision} in a cluster of the same identifier, it is as without the rule.
 * A loss that a restore undoes is not told.
 * <li><b>Locks that share a lease.</b> An addition that is refused because another token
 * has put the guard is repeated; what that one has put does not settle it; a raise is of
 * one entry; a lease that is lost is lost to all its entries.
 * <li>A late keep-alive, a late read and a late {@code begin} need no rule beside these.
 * </ul>
 * Not in the model: the revocation at the stop, more than two locks, renewals that read
 * several entries at once, leases of more lengths, a revision that is given again after a
 * restore while a request that names it is on its way, local hand-offs, how often the
 * engine asks, the values of entries, when leases are kept alive, and least versions of
 * servers. At most two late requests are on their way at once. An answer that comes later
 * than it was carried out is always possible. {@code begin} is one step, though it is a
 * grant and a put. Requests in which no time counts are sent at once: that they may be
 * late is the same. Fair runs keep leases alive for ever, as other locks do.
 */
@NullMarked
package io.github.lockspring.model.etcd;

import org.jspecify.annotations.NullMarked;
