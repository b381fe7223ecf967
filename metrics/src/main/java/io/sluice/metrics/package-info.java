/** Binds the engine's metrics to Micrometer. It reads snapshots and adds nothing to the hot path. */
@NullMarked
package io.sluice.metrics;

import org.jspecify.annotations.NullMarked;
