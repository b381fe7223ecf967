/** Movers that find each other in a clustered Vert.x, and a run of three of them that loses one and gets it back. */
@NullMarked
package io.sluice.samples.cluster;

import org.jspecify.annotations.NullMarked;
