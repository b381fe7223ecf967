package io.sluice.collectives.mapped;

import io.sluice.collectives.mapped.MappedRegions.Attached;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** What is known of another rank in a collective, and what it was told. All of it is the loop's. */
final class PeerState {
    final Offer offer = new Offer();
    boolean offered;
    boolean confirmed;
    boolean readsNoMore;
    long result;
    boolean toldOffer;
    boolean toldAttached;
    long toldResult;
    boolean toldEnd;

    @Nullable
    MemorySegment source;

    @Nullable
    MemorySegment target;

    void reset() {
        offered = false;
        confirmed = false;
        readsNoMore = false;
        result = 0;
        toldOffer = false;
        toldAttached = false;
        toldResult = 0;
        toldEnd = false;
    }

    /** Looks up its memory; false if some of it is still being attached. */
    boolean find(MappedRegions regions, int rank) {
        return find(regions, rank, Offer.SOURCE, false) & find(regions, rank, Offer.TARGET, true);
    }

    private boolean find(MappedRegions regions, int rank, int flag, boolean ofTarget) {
        if (!offer.has(flag)) {
            return true;
        }
        Attached attached = regions.attached(rank, offer.number(ofTarget), offer.generation(ofTarget));
        if (ofTarget) {
            target = attached.memory;
        } else {
            source = attached.memory;
        }
        return attached.settled;
    }

    /** Whether its source was offered and could not be attached. */
    boolean lacksSource() {
        return offer.has(Offer.SOURCE) && source == null;
    }

    /** Whether its target was offered and could not be attached. */
    boolean lacksTarget() {
        return offer.has(Offer.TARGET) && target == null;
    }
}
