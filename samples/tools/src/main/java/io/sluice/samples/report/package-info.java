/** What the commands read from and show to people: sizes, durations, progress and the summary of a replay. */
@NullMarked
package io.sluice.samples.report;

import org.jspecify.annotations.NullMarked;
