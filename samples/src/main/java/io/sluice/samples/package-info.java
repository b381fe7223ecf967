/** The {@code sluice} program. */
@NullMarked
package io.sluice.samples;

import org.jspecify.annotations.NullMarked;
