/** Small programs, one for each thing that Sluice does. Each has a {@code main} and runs by itself. */
@NullMarked
package io.sluice.snippets;

import org.jspecify.annotations.NullMarked;
