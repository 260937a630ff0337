/**
 * The engine: holds a lock for as long as the work under it lasts. {@link KeyLock} is one
 * key in this instance and the one state machine; {@link RenewalPolicy},
 * {@link LocalHandoff} and {@link RetrySchedule} are its pure decisions; a {@link Waiter}
 * is told its outcome once. What knows neither ownership nor lease is in {@code support}.
 *
 * <h2>States of an ownership, and events</h2>
 *
 * A key without an ownership is free, as far as this instance knows. "–" means that the
 * event cannot happen, or changes nothing.
 *
 * <pre>
 * event             | ATTEMPTING        | WAITING           | HELD              | RELEASING
 * ------------------+-------------------+-------------------+-------------------+-----------
 * enqueue           | queue             | queue             | queue             | queue
 * next (first)      | park              | ATTEMPTING if due | park              | park
 * answered: got it  | HELD, or WAITING  | ignored (old)     | ignored (old)     | ignored (old)
 *                   | if too late       |                   |                   |
 * answered: busy    | WAITING           | ignored (old)     | ignored (old)     | ignored (old)
 * failed            | WAITING           | ignored (old)     | ignored (old)     | ignored (old)
 * granted           | kept for result   | HELD, or attempt  | –                 | –
 *                   |                   | at once           |                   |
 * wanted            | attempt again     | attempt at once   | others wait       | –
 * attemptBy         | attempt again     | attempt by then   | –                 | –
 * end               | –                 | –                 | HELD (next one),  | –
 *                   |                   |                   | or RELEASING      |
 * renewed           | –                 | –                 | HELD (longer),    | –
 *                   |                   |                   | or LOST           |
 * deadline passes   | –                 | –                 | LOST              | –
 * cancel (first)    | WAITING           | –                 | –                 | –
 * last waiter gone  | –                 | RELEASING, apart  | –                 | –
 * released          | –                 | –                 | –                 | gone
 * surrender (stop)  | –                 | –                 | LOST              | –
 * </pre>
 *
 * LOST is final: the ownership is dropped at once, and the next waiter begins another one
 * with a token of its own. "Apart" means that the key is free here while the old token
 * leaves the store's queue.
 *
 * <h2>Lock order</h2>
 *
 * The monitor of a key is never entered inside another one, nor held during a request to
 * the store, a listener or the waking of a waiter.
 */
@NullMarked
package io.github.lockspring.internal.engine;

import org.jspecify.annotations.NullMarked;
