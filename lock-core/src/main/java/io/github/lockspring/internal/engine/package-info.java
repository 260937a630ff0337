/**
 * The engine: holds a lock for as long as the work under it lasts. {@link KeyLock} is one
 * key in this instance and the one state machine; {@link RenewalPolicy},
 * {@link LocalHandoff} and {@link RetrySchedule} are its pure decisions; a {@link Waiter}
 * receives its outcome once. Code that depends on neither ownership nor lease is in
 * {@code support}.
 *
 * <h2>States of a key, and events</h2>
 *
 * A key that nobody here uses is free and has no state. A cell contains the next state,
 * and after the colon the effects: the key <em>asks</em> the store or <em>releases</em>
 * its token, a waiter is <em>told</em>, the inbox <em>listens</em>, a loss is
 * <em>reported</em>. "–" means that nothing changes; "again", that the awaited answer
 * causes another request: of an attempt, at once, unless it is <em>acquired</em>, or, in
 * <em>Releasing</em>, of a release; "soon", that one is made within the given time;
 * "contended", that the lock is handed off inside this instance for a short time only
 * from now on: any message that others wait makes it so, in each state but
 * <em>Releasing</em>, where a message about the token prolongs the release. The watchdog
 * <em>renews</em> a lease, which is <em>longer</em> then. Each cell is for one plain
 * waiter, with nobody else: others are told as well, or the key is asked for them next.
 *
 * <pre>
 * event               Asking               Waiting              Retrying             Held                   Releasing
 * -------------------------------------------------------------------------------------------------------------------
 * enqueue             listen               listen               listen               listen                 listen
 * enqueue, once       tell                 tell                 tell                 tell                   tell
 * last waiter leaves  free: tell, release  free: tell, release  free: tell, release  tell                   tell
 * another one leaves  tell                 tell                 tell                 tell                   tell
 * acquired            Held: tell           –                    –                    –                      again
 * acquired too late   Retrying: listen     –                    –                    –                      again
 * busy                Waiting: listen      –                    –                    –                      again
 * failed              Retrying: listen     –                    –                    –                      –
 * failed for good     free: tell, release  –                    –                    –                      –
 * granted             again                Held: tell           Asking: ask          –                      –
 * granted, stale      again                Asking: ask          Asking: ask          –                      –
 * wanted              again                Asking: ask          Asking: ask          contended              –
 * subscribed          again                soon                 soon                 –                      –
 * reconnected         –                    –                    –                    soon                   –
 * time passes         Retrying: listen     Asking: ask          Asking: ask          free: release, report  –
 * renewal is due      –                    –                    –                    renew                  –
 * renewed             –                    –                    –                    longer                 –
 * not the owner       –                    –                    –                    free: release, report  –
 * end                 –                    –                    –                    Releasing: release     –
 * end, handed off     –                    –                    –                    Held: tell             –
 * released            –                    –                    –                    –                      free
 * closing             –                    free: tell, release  free: tell, release  –                      –
 * stop                free: tell, release  free: tell, release  free: tell, release  free: release, report  –
 * </pre>
 *
 * The table is of a store with a queue that does not keep the order of requests, with a
 * confirmed inbox. An ordered store, such as one Redis over Lettuce, needs no
 * {@code Releasing}: the key is free at once. A key that becomes free while somebody
 * waits is <em>Asking</em> in the same event, as one is that nobody has used before. A
 * claim that is dropped, as by the last waiter that leaves, ends with a release (for
 * which a thread waits a moment before it reports the lock as busy), unless its only
 * attempt has left nothing; so does the answer of an attempt that comes later and may
 * have left its token in the store. To "listen" opens the inbox, if it is not, and
 * registers the name of the instance. An error, such as a {@code StackOverflowError}, may
 * end a waiter or a holder before it can report that: the next event skips the one; the
 * next one that lets the time pass ends the hold of the other.
 * <p>
 * Not in the table: a waiter whose time is over leaves; only the first one in
 * <em>Asking</em> stays a little longer ({@link RetrySchedule#usuallyAnsweredBy}) until
 * there has been an answer, since it is not known yet whether the lock is busy. After
 * <em>closing</em>, <em>enqueue</em> is <em>enqueue, once</em>. Without a confirmed inbox
 * an attempt does not queue, asks again at once when it could, and gets a token that
 * needs no message after a while ({@code KeyLock.reachable}). {@link Held} has events of
 * its own: its limits begin, its holder lengthens the lease, the lock is taken away by
 * force (as <em>not the owner</em>), the thread that alone could end it is dead, or its
 * holder asks and the lease is over (both as <em>time passes</em>), a renewal has no
 * answer (<em>soon</em>).
 *
 * <h2>One call for a free lock, from top to bottom</h2>
 *
 * <ol>
 * <li>{@code LockInterceptor} has the method's {@code LockKeyExpression} make the
 * request.</li>
 * <li>{@link DefaultLockTemplate} acquires key by key. {@link LockParameters} is one key
 * of the request with its defaults, a {@link ThreadWaiter} waits for it.</li>
 * <li>{@link KeyLockRegistry} finds the {@link KeyLock}, which queues the waiter.
 * {@code KeyLock.settle}, the end of each event, sees a waiter and no state: it has a
 * {@link Claim} made, the state of one token, and {@code KeyLock.ask} makes the attempt.
 * The {@link KeyState} is <em>Asking</em>.</li>
 * <li>The request leaves when that event is over, in {@code Monitor.close}, on the same
 * thread: {@code KeyLockRegistry.send}, {@code StoreClient.acquire}, the store. On Redis
 * that is {@code RedisLockStore}, {@code RedisConnections.execute},
 * {@code LettuceConnections.send} and {@code acquire.lua}, whose reply
 * {@code RedisLockStore.acquired} reads.</li>
 * <li>The answer is another event, {@code KeyLock.answered}, on any thread. The state is
 * {@link Held}: one caller's use of a {@link Lease}, the time that the store has given.
 * The waiter is told and woken.</li>
 * <li>The caller gets a {@link DefaultHeldLock}, and the work runs. When a third of the
 * lease is over, the {@link Watchdog} has it renewed: {@code KeyLock.tick} makes a
 * {@link Renewal}, {@link Renewals} sends it, on Redis by {@code BatchRenewal} and
 * {@code renew.lua}, and {@code KeyLock.renewed} lengthens the lease.</li>
 * <li>{@link LockAcquisition} has {@code DefaultHeldLock.end} end it: {@code Held.end}
 * finds nobody to hand the lock off to, the token is registered with {@link Releases},
 * and the key is dropped. After the event {@code Releases.send} sends it, as in step 4,
 * to {@code release.lua}. Unless {@code async-release} is set,
 * {@code DefaultHeldLock.awaitRelease} waits for the first answer.</li>
 * </ol>
 *
 * Everything else in this package serves waiting, failures, several keys, or people.
 *
 * <h2>Lock order</h2>
 *
 * The monitor of a key is never entered inside that of another key, nor held during a
 * request to the store, a listener or the waking of a waiter. An inbox may enter it while
 * it delivers, so {@code Inbox.isConfirmed} never waits for a delivery.
 */
@NullMarked
package io.github.lockspring.internal.engine;

import org.jspecify.annotations.NullMarked;
