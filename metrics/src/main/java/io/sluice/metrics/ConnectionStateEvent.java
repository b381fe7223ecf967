package io.sluice.metrics;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** A connection that was established, closed or lost. */
@Name("io.sluice.ConnectionState")
@Label("Connection State")
@Category("Sluice")
@Description("A connection was established, closed or lost")
@StackTrace(false)
final class ConnectionStateEvent extends Event {
    @Label("Peer")
    @Nullable
    String peer;

    @Label("Connection")
    long connection;

    @Label("Transport")
    @Nullable
    String transport;

    @Label("State")
    @Nullable
    String state;

    @Label("Reason")
    @Nullable
    String reason;
}
