/** A character-level transformer, trained by one rank or by several, whose gradients an all-reduce adds up. */
@NullMarked
package io.sluice.samples.train;

import org.jspecify.annotations.NullMarked;
