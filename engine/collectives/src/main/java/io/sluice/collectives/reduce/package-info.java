/** Element-wise reductions of memory. */
@NullMarked
package io.sluice.collectives.reduce;

import org.jspecify.annotations.NullMarked;
