/** What is wrong, told as RFC 9457 does. */
@NullMarked
package io.sluice.samples.mover.problem;

import org.jspecify.annotations.NullMarked;
