/**
 * The bank: several processes move money between a few accounts while their processes are
 * stopped and Redis loses its data, and an auditor looks whether any was made or lost.
 */
@NullMarked
package io.github.lockspring.bank;

import org.jspecify.annotations.NullMarked;
