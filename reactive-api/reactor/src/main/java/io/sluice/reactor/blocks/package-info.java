/**
 * Ownership of transferred blocks: a block is lent to the receiver until the receiver returns it by a notification.
 * Start at {@link io.sluice.reactor.blocks.BlockLeases}.
 */
@NullMarked
package io.sluice.reactor.blocks;

import org.jspecify.annotations.NullMarked;
