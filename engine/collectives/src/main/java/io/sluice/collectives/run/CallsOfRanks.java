package io.sluice.collectives.run;

import io.sluice.collectives.link.Link;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The latest collectives that this rank has called, and those in which peers say that they wait for it: where they differ,
 * no message may ever come that tells it; or one comes that no plan takes. All of it is the loop's.
 */
final class CallsOfRanks {
    private static final int KEPT = 1 << 10;

    private final long[] headers = new long[KEPT];
    private final long[] counts = new long[KEPT];
    private final List<Awaited> early = new ArrayList<>();
    private long next;
    private int history;

    /**
     * A collective in which a peer waits.
     *
     * @param number the collective's
     * @param header with number and history
     */
    record Awaited(int peer, long number, long header, long count) {}

    /** Returns the channel of the next collective, if that is this one. */
    int channelOf(Run run, int channels) {
        int pinned = run.pinnedChannel();
        return pinned < 0 ? (int) (next % channels) : pinned;
    }

    /**
     * Gives the next collective its number.
     *
     * @param channel where it runs
     * @return what a peer has called in its place, or null
     */
    @Nullable
    HeaderMismatch called(Run run, int channel) {
        run.numbered(next, Header.onChannel(history, channel));
        int place = (int) (next % KEPT);
        headers[place] = run.header();
        counts[place] = run.count();
        history = Header.history(history, run.header(), run.count());
        next++;
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

    /** Returns the difference to a message that has come too late for all collectives of its channel, or null. */
    @Nullable
    HeaderMismatch unexpected(Channel[] channels) {
        for (Channel channel : channels) {
            HeaderMismatch found = channel.current() == null ? unexpected(channel, next - 1) : null;
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /**
     * Returns the difference to a message that no collective takes, or null. Ranks that only send, such as two roots, end
     * before they have heard of each other.
     *
     * @param last the number of the latest collective that has ended on the channel, which takes messages of later ones
     */
    @Nullable
    HeaderMismatch unexpected(Channel channel, long last) {
        for (Link link : channel.links) {
            if (link != null && link.hasArrived()) {
                long number = last - Header.behind(link.header(), last);
                if (number >= 0 && number >= next - KEPT) {
                    int place = (int) (number % KEPT);
                    return new HeaderMismatch(
                            link.peer(), headers[place], counts[place], link.header(), link.headerCount());
                }
            }
        }
        return null;
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
