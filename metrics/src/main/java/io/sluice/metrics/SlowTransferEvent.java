package io.sluice.metrics;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** A transfer that took at least as long as the engine's options allow. */
@Name("io.sluice.SlowTransfer")
@Label("Slow Transfer")
@Category("Sluice")
@Description("A transfer took at least as long as EngineOptions.slowTransfer")
@StackTrace(false)
final class SlowTransferEvent extends Event {
    @Label("Peer")
    @Nullable
    String peer;

    @Label("Connection")
    long connection;

    @Label("Transport")
    @Nullable
    String transport;

    @Label("Operation")
    @Nullable
    String operation;

    @Label("Bytes")
    @DataAmount
    long bytes;

    @Label("Waited Until Posted")
    @Timespan
    long waited;

    @Label("Transfer Duration")
    @Description("From submission to end")
    @Timespan
    long took;

    @Label("Error Kind")
    @Description("Nothing for a success")
    @Nullable
    String errorKind;
}
