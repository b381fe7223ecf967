/** Moves of blocks, from their submission to their end. */
@NullMarked
package io.sluice.samples.mover.move;

import org.jspecify.annotations.NullMarked;
