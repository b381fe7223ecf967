/**
 * Collectives: operations that every rank of a {@link io.sluice.collectives.Team} calls in the same order.
 *
 * <p>Start at {@link io.sluice.collectives.Team#form}.
 */
@NullMarked
package io.sluice.collectives;

import org.jspecify.annotations.NullMarked;
