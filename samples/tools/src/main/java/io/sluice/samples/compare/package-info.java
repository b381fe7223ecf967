/** Measures transfers beside other programs that move bytes on this machine, by turns, and gives the ratios. */
@NullMarked
package io.sluice.samples.compare;

import org.jspecify.annotations.NullMarked;
