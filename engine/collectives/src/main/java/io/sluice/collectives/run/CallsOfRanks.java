package io.sluice.collectives.run;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The latest collectives that this rank has called, and those in which peers say that they wait for it: where they differ,
 * no message may ever come that tells it. All of it is the loop's.
 */
final class CallsOfRanks {
    private static final int KEPT = 1 << 10;

    private final long[] headers = new long[KEPT];
    private final long[] counts = new long[KEPT];
    private final List<Awaited> early = new ArrayList<>();
    private long next;

    /**
     * A collective in which a peer waits.
     *
     * @param number the collective's
     * @param header with the lowest bits of the number
     */
    record Awaited(int peer, long number, long header, long count) {}

    /** Takes note of the next collective; returns what a peer has called in its place, or null. */
    @Nullable
    HeaderMismatch called(Run run) {
        int place = (int) (run.number() % KEPT);
        headers[place] = run.header();
        counts[place] = run.count();
        next = run.number() + 1;
        if (early.isEmpty()) {
            // without an iterator, which compilers do not always save
            return null;
        }
        HeaderMismatch different = null;
        for (Iterator<Awaited> each = early.iterator(); each.hasNext(); ) {
            Awaited awaited = each.next();
            if (awaited.number < next) {
                each.remove();
                different = different == null ? difference(awaited) : different;
            }
        }
        return different;
    }

    /** Returns the difference to what this rank has called, or null. If it has not called yet, it looks then. */
    @Nullable
    HeaderMismatch difference(Awaited awaited) {
        if (awaited.number >= next) {
            if (!early.contains(awaited)) {
                early.add(awaited);
            }
            return null;
        }
        int place = (int) (awaited.number % KEPT);
        return awaited.number < next - KEPT || headers[place] == awaited.header
                ? null
                : new HeaderMismatch(awaited.peer, headers[place], counts[place], awaited.header, awaited.count);
    }

    /**
     * Tells peers for which collectives have waited since the last time. Ranks that call different ones may wait for each
     * other, and neither sends a header.
     *
     * @return whether there are messages to send
     */
    static boolean tell(Channel[] channels, Links links) {
        boolean told = false;
        for (Channel channel : channels) {
            Run run = channel.current();
            if (run != null && !run.isGated() && run.isWhereItWas()) {
                for (Exchange exchange : links.exchanges) {
                    if (exchange != null && channel.needs(exchange.peer())) {
                        exchange.tell(run.number(), run.header(), run.count());
                        told = true;
                    }
                }
            }
        }
        return told;
    }
}
