/** Formats that people read and write: sizes, durations, progress and the summary of a replay. */
@NullMarked
package io.sluice.samples.report;

import org.jspecify.annotations.NullMarked;
