/** A replay from end to end: the trace in its time, the two processes, and what is counted. */
@NullMarked
package io.sluice.samples.replay;

import org.jspecify.annotations.NullMarked;
