/** The prefill side: it fills the pages of requests and writes them into a decode process's memory, layer by layer. */
@NullMarked
package io.sluice.samples.prefill;

import org.jspecify.annotations.NullMarked;
