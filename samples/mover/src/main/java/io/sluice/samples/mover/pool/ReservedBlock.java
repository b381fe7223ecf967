package io.sluice.samples.mover.pool;

/**
 * A block that is to come, and the slot that waits for it.
 *
 * @param hash which one
 * @param slot where to
 */
public record ReservedBlock(long hash, int slot) {}
