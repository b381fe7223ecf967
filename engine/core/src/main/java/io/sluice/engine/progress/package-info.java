/** The pollers: duty cycle, idle strategy, deadlines, counters. Internal. */
@NullMarked
package io.sluice.engine.progress;

import org.jspecify.annotations.NullMarked;
