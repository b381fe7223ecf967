/** Request traces of an inference service: read from a file, or generated in the same shape. */
@NullMarked
package io.sluice.samples.trace;

import org.jspecify.annotations.NullMarked;
