/** What the connections of an engine count, and the metrics that are added up from it when somebody asks. Internal. */
@NullMarked
package io.sluice.engine.figures;

import org.jspecify.annotations.NullMarked;
