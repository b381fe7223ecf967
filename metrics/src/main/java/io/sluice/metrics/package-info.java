/** Binds what the engine counts and measures to Micrometer; it reads snapshots and adds nothing to the hot path. */
@NullMarked
package io.sluice.metrics;

import org.jspecify.annotations.NullMarked;
