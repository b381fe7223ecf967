/**
 * Transfers as {@code Mono} and {@code Flux}: lazy, cold and cancellable, with downstream demand bounding what is in
 * flight.
 *
 * <p>Start at {@link io.sluice.reactor.ReactiveTransferEngine}.
 */
@NullMarked
package io.sluice.reactor;

import org.jspecify.annotations.NullMarked;
