/** Compares transfers with other programs that move bytes on this machine, in interleaved rounds. */
@NullMarked
package io.sluice.samples.compare;

import org.jspecify.annotations.NullMarked;
