package io.github.lockspring.engine;

/**
 * What a waiter is told, once: the lock is its own, or it does not get it.
 */
sealed interface AcquireOutcome permits Hold, AcquireFailure {

}
