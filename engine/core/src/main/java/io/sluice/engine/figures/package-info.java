/** The counters of an engine's connections, and the metrics that are added up from them on each read. Internal. */
@NullMarked
package io.sluice.engine.figures;

import org.jspecify.annotations.NullMarked;
