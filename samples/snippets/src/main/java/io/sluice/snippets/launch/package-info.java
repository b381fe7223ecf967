/** Starts the snippets for {@code ./sluice snippet}; they need nothing of it. */
@NullMarked
package io.sluice.snippets.launch;

import org.jspecify.annotations.NullMarked;
