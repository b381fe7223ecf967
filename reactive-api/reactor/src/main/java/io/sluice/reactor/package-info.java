/**
 * The engine's transfers as {@code Mono} and {@code Flux}: lazy, cold, cancellable, with the downstream's demand mapped
 * to what is in flight.
 *
 * <p>Start at {@link io.sluice.reactor.ReactiveTransferEngine}.
 */
@NullMarked
package io.sluice.reactor;

import org.jspecify.annotations.NullMarked;
