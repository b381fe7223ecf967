package io.sluice.engine.bootstrap;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Distributes the places for handshakes, and their rate: a source address may take one more while it has less than a
 * multiple of what is free. So one address alone gets nearly all, several get equal parts, and something is left for
 * later ones. The last places are for addresses that have none; otherwise a few addresses at once could take them all.
 * Thread-safe.
 */
final class SourceShares {
    // one address alone gets seven eighths
    private static final int TIMES_FREE = 7;
    // of the rate, without a sign that the peer knows a token; those that show one find some left
    private static final int TIMES_FREE_UNKNOWN = 1;
    private static final int PART_FOR_NEWCOMERS = 16;
    private static final int MOST_SOURCES = 4096;
    // to look at all of them for each socket would cost the loop that accepts more than the sockets do
    private static final long LOOK_NANOS = 1_000_000_000L;

    private final int slots;
    private final HandshakeRate rate;
    private final Map<Long, SourceShare> shares = new HashMap<>();
    // of those for whom there is no share of their own: so many addresses are one attacker's, or as good as that
    private final SourceShare others;
    private int taken;
    private long lookedAt;

    SourceShares(int slots, int perSecond, long now) {
        this.slots = slots;
        this.rate = new HandshakeRate(perSecond, now);
        this.others = new SourceShare(SourceAddress.UNKNOWN, now);
        this.lookedAt = now - LOOK_NANOS;
    }

    /** Takes a place; null if there is none for this source now. */
    synchronized @Nullable SourceShare takeSlot(long source, long now) {
        SourceShare share = of(source, now);
        int free = slots - taken;
        if (free <= (share.slots() == 0 ? 0 : slots / PART_FOR_NEWCOMERS)
                || share.slots() >= TIMES_FREE * (long) free) {
            return null;
        }
        share.slots(share.slots() + 1);
        taken++;
        return share;
    }

    synchronized void giveSlot(SourceShare share) {
        share.slots(share.slots() - 1);
        taken--;
    }

    synchronized boolean isFull() {
        return taken >= slots;
    }

    synchronized int taken() {
        return taken;
    }

    /**
     * Whether a handshake of this source may begin; if so, it counts.
     *
     * @param hinted whether the peer has shown a sign of a token, or there is none to ask for
     */
    synchronized boolean admits(SourceShare share, boolean hinted, long now) {
        long free = rate.free(now);
        long most = (hinted ? TIMES_FREE : TIMES_FREE_UNKNOWN) * free;
        if (share.recent(now) >= most || !rate.admits(now)) {
            return false;
        }
        share.handshake(now);
        return true;
    }

    synchronized int sources() {
        return shares.size();
    }

    private SourceShare of(long source, long now) {
        SourceShare known = shares.get(source);
        if (known != null) {
            return known;
        }
        if (shares.size() >= MOST_SOURCES && now - lookedAt >= LOOK_NANOS) {
            lookedAt = now;
            shares.values().removeIf(share -> share.isIdle(now));
        }
        if (shares.size() >= MOST_SOURCES) {
            return others;
        }
        SourceShare made = new SourceShare(source, now);
        shares.put(source, made);
        return made;
    }
}
