/** A mixture of experts that learns to continue a text; its experts live on several processes. */
@NullMarked
package io.sluice.samples.experts;

import org.jspecify.annotations.NullMarked;
