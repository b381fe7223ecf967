/** Measures the engine's operations between this process and another one, and checks what they moved. */
@NullMarked
package io.sluice.samples.bench;

import org.jspecify.annotations.NullMarked;
