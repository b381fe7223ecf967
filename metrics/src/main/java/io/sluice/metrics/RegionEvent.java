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

/** A region that was registered or closed. */
@Name("io.sluice.Region")
@Label("Region")
@Category("Sluice")
@Description("A memory region was registered, allocated or closed")
@StackTrace(false)
final class RegionEvent extends Event {
    @Label("Change")
    @Description("opened or closed")
    @Nullable
    String change;

    @Label("Name")
    @Nullable
    String name;

    @Label("Length")
    @DataAmount
    long length;

    @Label("Registration Duration")
    @Description("How long it took to open it; 0 when it is closed")
    @Timespan
    long took;
}
