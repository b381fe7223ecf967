/** A small language model, trained by one process or by several that add up their gradients. */
@NullMarked
package io.sluice.samples.train;

import org.jspecify.annotations.NullMarked;
