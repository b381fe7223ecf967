/** Pools of a mover: blocks in registered memory, each sealed page by page. */
@NullMarked
package io.sluice.samples.mover.pool;

import org.jspecify.annotations.NullMarked;
