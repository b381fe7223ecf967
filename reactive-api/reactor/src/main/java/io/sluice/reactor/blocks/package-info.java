/**
 * Who owns a block that was moved: it is lent to the receiver until the receiver gives it back, over notifications. Start at
 * {@link io.sluice.reactor.blocks.BlockLeases}.
 */
@NullMarked
package io.sluice.reactor.blocks;

import org.jspecify.annotations.NullMarked;
