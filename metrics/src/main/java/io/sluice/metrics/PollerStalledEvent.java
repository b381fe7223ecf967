package io.sluice.metrics;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** A duty cycle that took too long. */
@Name("io.sluice.PollerStalled")
@Label("Poller Stalled")
@Category("Sluice")
@Description("A duty cycle took longer than EngineOptions.stallThreshold: a callback blocked or worked too long")
@StackTrace(false)
final class PollerStalledEvent extends Event {
    @Label("Poller")
    int poller;

    @Label("Duty Cycle Duration")
    @Timespan
    long took;
}
