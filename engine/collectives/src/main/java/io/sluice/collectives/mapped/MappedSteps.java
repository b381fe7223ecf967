package io.sluice.collectives.mapped;

import io.sluice.collectives.link.Link;
import io.sluice.collectives.link.LinkFailedException;
import io.sluice.collectives.mapped.MappedRegions.Given;
import io.sluice.engine.MemoryRegion;
import org.jspecify.annotations.Nullable;

/**
 * One rank's part of a collective whose ranks read each other's mapped memory. All offer their regions to all; if any is
 * new, all say whether they have attached it; if one cannot be read by all, none is, and the collective goes another way.
 * Else each rank does its {@link MappedTask} and says how far its result has come, and at the end that it reads no more. A
 * rank ends when it has heard that of all: until then they may read its memory. All of it is the loop's, and nothing is
 * allocated when it runs again.
 */
public final class MappedSteps {
    /** {@link #advance} returns it at the end. */
    public static final int DONE = -1;

    /** {@link #advance} returns it if not all regions can be read; on all ranks. */
    public static final int GOES_ANOTHER_WAY = -2;

    private static final int MESSAGE_COST = 1 << 10;
    private static final long READS_NO_MORE = -1;
    private static final long HAS_ATTACHED = 1;
    private static final long SOURCE_REFUSED = 2;
    private static final long TARGET_REFUSED = 4;

    private enum Stage {
        BEGIN,
        OFFERING,
        ATTACHING,
        CONFIRMING,
        WORKING,
        LEAVING,
        ENDED
    }

    private final MappedRegions regions;
    private final MappedTask task;
    private final int rank;
    private final MemoryRegion source;
    private final long sourceOffset;
    private final MemoryRegion target;
    private final long targetOffset;
    private final Offer own = new Offer();
    private final Work work;
    private final PeerState[] peers;

    private Stage stage = Stage.BEGIN;
    private @Nullable Given givenSource;
    private @Nullable Given givenTarget;
    private boolean gives;
    private boolean someAreNew;
    private boolean allAttached;

    /** What the collective's ranks agree on. */
    public interface Caller {
        /** Checks the header of the first message of a peer. */
        void check(Link link);

        /** The first word of headers. */
        long header();

        /** The second word of the first header to a peer. */
        long countTo(int peer);

        /** The number of the collective. */
        long number();
    }

    /**
     * Creates it.
     *
     * @param operands reduces elements
     */
    public MappedSteps(
            MappedRegions regions,
            MappedTask task,
            Operands operands,
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset) {
        this.regions = regions;
        this.task = task;
        this.rank = regions.rank();
        this.source = source;
        this.sourceOffset = sourceOffset;
        this.target = target;
        this.targetOffset = targetOffset;
        this.peers = new PeerState[regions.size()];
        for (int i = 0; i < peers.length; i++) {
            peers[i] = new PeerState();
        }
        this.work = new Work(regions, task, operands, source, sourceOffset, target, targetOffset, peers);
    }

    /** Prepares for a run. */
    public void reset() {
        stage = Stage.BEGIN;
        work.reset();
        for (PeerState peer : peers) {
            peer.reset();
        }
        someAreNew = false;
        allAttached = true;
    }

    /** The share of the work that is done, 0 to 1. */
    public double progress() {
        return work.progress();
    }

    /** Whether it waits for something of a rank. */
    public boolean needs(int other) {
        return other != rank
                && stage != Stage.ENDED
                && (!peers[other].readsNoMore || (stage == Stage.LEAVING && regions.isBrokenOff()));
    }

    /** The first rank for which it waits, or -1. */
    public int awaited() {
        for (int peer = 0; peer < peers.length; peer++) {
            if (needs(peer)) {
                return peer;
            }
        }
        return -1;
    }

    /** Whether it waits for messages. */
    public boolean looks() {
        return stage != Stage.BEGIN && stage != Stage.ENDED;
    }

    /** Whether a message has come. */
    public boolean isReady(@Nullable Link[] links) {
        if (!looks()) {
            return false;
        }
        for (Link link : links) {
            if (link != null) {
                PeerState peer = peers[link.peer()];
                if ((expects(peer) && link.hasArrived()) || (owes(peer) && link.canSend())) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether the next message of a peer belongs to this stage: a faster one is further. */
    private boolean expects(PeerState peer) {
        return switch (stage) {
            case OFFERING -> !peer.offered;
            case CONFIRMING -> !peer.confirmed;
            case WORKING, LEAVING -> !peer.readsNoMore;
            case BEGIN, ATTACHING, ENDED -> false;
        };
    }

    /** Whether a peer must be told something. */
    private boolean owes(PeerState peer) {
        return switch (stage) {
            case OFFERING -> !peer.toldOffer;
            case CONFIRMING -> !peer.toldAttached;
            case WORKING -> task.givesResult && peer.toldResult < work.reduced();
            case LEAVING -> !peer.toldEnd;
            case BEGIN, ATTACHING, ENDED -> false;
        };
    }

    /**
     * Does what it can.
     *
     * @param budget about how many bytes to process
     * @return the bytes processed, less than the budget if it must wait; or {@link #DONE} or {@link #GOES_ANOTHER_WAY}
     */
    public int advance(Caller caller, @Nullable Link[] links, int budget) {
        try {
            return take(caller, links, budget);
        } catch (IllegalStateException e) {
            for (Link link : links) {
                if (link != null && link.failed(e) instanceof LinkFailedException lost) {
                    throw lost;
                }
            }
            throw e;
        }
    }

    private int take(Caller caller, @Nullable Link[] links, int budget) {
        int used = 0;
        while (used < budget) {
            int before = used;
            Stage was = stage;
            switch (stage) {
                case BEGIN -> {
                    switch (regions.possible()) {
                        case UNKNOWN -> {
                            return used;
                        }
                        case NO -> {
                            return end(GOES_ANOTHER_WAY);
                        }
                        case YES -> offer();
                    }
                }
                case OFFERING -> {
                    used += tellOffers(caller, links);
                    used += takeOffers(caller, links);
                    if (haveAll(links, Stage.OFFERING) && !allUsable()) {
                        return end(GOES_ANOTHER_WAY);
                    }
                    if (haveAll(links, Stage.OFFERING)) {
                        stage = someAreNew ? Stage.ATTACHING : Stage.WORKING;
                        found(links);
                    }
                }
                case ATTACHING -> {
                    if (found(links)) {
                        stage = Stage.CONFIRMING;
                    }
                }
                case CONFIRMING -> {
                    used += confirm(caller, links);
                    if (haveAll(links, Stage.CONFIRMING)) {
                        if (!allAttached) {
                            return end(GOES_ANOTHER_WAY);
                        }
                        know(givenSource);
                        know(givenTarget);
                        stage = Stage.WORKING;
                    }
                }
                case WORKING -> {
                    used += takeResults(links);
                    used += work.reducePiece();
                    used += tellResults(caller, links);
                    used += work.copyPiece();
                    if (work.isDone() && haveTold(links)) {
                        stage = Stage.LEAVING;
                    }
                }
                case LEAVING -> {
                    used += tellEnd(caller, links);
                    used += takeResults(links);
                    if (haveAll(links, Stage.LEAVING)) {
                        // the revocation of one that has ended so is on its way
                        return regions.isBrokenOff() ? used : end(DONE);
                    }
                }
                case ENDED -> {
                    return DONE;
                }
            }
            if (used == before && stage == was) {
                return used;
            }
        }
        return used;
    }

    private int end(int result) {
        stage = Stage.ENDED;
        release(givenSource);
        release(givenTarget);
        return result;
    }

    private static void release(@Nullable Given region) {
        if (region != null) {
            region.users--;
        }
    }

    private static void know(@Nullable Given region) {
        if (region != null) {
            region.known = true;
        }
    }

    // ---- offers ----

    private void offer() {
        gives = task.possible;
        givenSource = task.givesSource ? give(givenSource, source) : null;
        givenTarget = task.givesTarget ? give(givenTarget, target) : null;
        own.set(gives, givenSource, sourceOffset, givenTarget, targetOffset);
        someAreNew = own.has(Offer.SOURCE_IS_NEW) || own.has(Offer.TARGET_IS_NEW);
        stage = Stage.OFFERING;
    }

    private @Nullable Given give(@Nullable Given before, MemoryRegion region) {
        Given given = before != null && regions.isGiven(before) && region.isOpen() ? before : regions.give(region);
        if (given == null) {
            gives = false;
            return null;
        }
        gives &= !given.refused;
        given.users++;
        return given;
    }

    private int tellOffers(Caller caller, @Nullable Link[] links) {
        int used = 0;
        for (Link link : links) {
            if (link != null && !peers[link.peer()].toldOffer && link.canSend()) {
                link.sendingFor(caller.number());
                own.sourceAt(sourceOffset + task.partOf(link.peer()));
                link.sendSmall(caller.header(), caller.countTo(link.peer()), own.bytes(), 0, own.length());
                peers[link.peer()].toldOffer = true;
                used += MESSAGE_COST;
            }
        }
        return used;
    }

    private int takeOffers(Caller caller, @Nullable Link[] links) {
        int used = 0;
        for (Link link : links) {
            if (link != null && !peers[link.peer()].offered && link.hasArrived()) {
                caller.check(link);
                link.receivingFor(caller.number());
                PeerState peer = peers[link.peer()];
                peer.offer.read(link.memory(), link.smallAt(own.length()));
                peer.offered = true;
                link.release();
                learn(link.peer(), peer.offer, Offer.SOURCE_IS_NEW, false);
                learn(link.peer(), peer.offer, Offer.TARGET_IS_NEW, true);
                used += MESSAGE_COST;
            }
        }
        return used;
    }

    private void learn(int peer, Offer offer, int flag, boolean ofTarget) {
        if (offer.has(flag)) {
            someAreNew = true;
            regions.learn(peer, offer.number(ofTarget), offer.generation(ofTarget), offer.descriptor(ofTarget));
        }
    }

    private boolean allUsable() {
        for (int peer = 0; peer < peers.length; peer++) {
            if (!(peer == rank ? own : peers[peer].offer).has(Offer.USABLE)) {
                return false;
            }
        }
        return true;
    }

    /** Looks up the memory of all; false if some of it is still being attached. */
    private boolean found(@Nullable Link[] links) {
        boolean settled = true;
        for (Link link : links) {
            if (link != null) {
                PeerState peer = peers[link.peer()];
                settled &= peer.find(regions, link.peer());
            }
        }
        return settled;
    }

    private int confirm(Caller caller, @Nullable Link[] links) {
        int used = 0;
        boolean own = isAllAttached(links);
        for (Link link : links) {
            if (link == null) {
                continue;
            }
            PeerState peer = peers[link.peer()];
            if (!peer.toldAttached && link.canSend()) {
                long word = (own ? HAS_ATTACHED : 0)
                        | (peer.lacksSource() ? SOURCE_REFUSED : 0)
                        | (peer.lacksTarget() ? TARGET_REFUSED : 0);
                link.sendSmall(caller.header(), word, link.memory(), 0, 0);
                peer.toldAttached = true;
                used += MESSAGE_COST;
            }
            if (!peer.confirmed && link.hasArrived()) {
                long word = link.headerCount();
                link.release();
                peer.confirmed = true;
                allAttached &= (word & HAS_ATTACHED) != 0;
                refuse(givenSource, (word & SOURCE_REFUSED) != 0);
                refuse(givenTarget, (word & TARGET_REFUSED) != 0);
                used += MESSAGE_COST;
            }
        }
        allAttached &= own;
        return used;
    }

    private boolean isAllAttached(@Nullable Link[] links) {
        for (Link link : links) {
            if (link != null) {
                PeerState peer = peers[link.peer()];
                if (peer.lacksSource() || peer.lacksTarget()) {
                    return false;
                }
            }
        }
        return true;
    }

    private static void refuse(@Nullable Given region, boolean refused) {
        if (region != null) {
            region.refused |= refused;
        }
    }

    /** Whether all that a stage tells and takes is told and taken. */
    private boolean haveAll(@Nullable Link[] links, Stage what) {
        for (Link link : links) {
            if (link != null) {
                PeerState peer = peers[link.peer()];
                boolean has = switch (what) {
                    case OFFERING -> peer.toldOffer && peer.offered;
                    case CONFIRMING -> peer.toldAttached && peer.confirmed;
                    default -> peer.toldEnd && peer.readsNoMore;
                };
                if (!has) {
                    return false;
                }
            }
        }
        return true;
    }

    // ---- the work ----

    private int takeResults(@Nullable Link[] links) {
        int used = 0;
        for (Link link : links) {
            if (link != null) {
                PeerState peer = peers[link.peer()];
                while (!peer.readsNoMore && link.hasArrived()) {
                    long word = link.headerCount();
                    link.release();
                    if (word == READS_NO_MORE) {
                        peer.readsNoMore = true;
                    } else {
                        peer.result = word;
                    }
                    used += MESSAGE_COST;
                }
            }
        }
        return used;
    }

    /** Says how far the result has come; where there is no free slot, later. */
    private int tellResults(Caller caller, @Nullable Link[] links) {
        int used = 0;
        if (task.givesResult) {
            for (Link link : links) {
                if (link != null && peers[link.peer()].toldResult < work.reduced() && link.canSend()) {
                    link.sendSmall(caller.header(), work.reduced(), link.memory(), 0, 0);
                    peers[link.peer()].toldResult = work.reduced();
                    used += MESSAGE_COST;
                }
            }
        }
        return used;
    }

    private boolean haveTold(@Nullable Link[] links) {
        if (task.givesResult) {
            for (Link link : links) {
                if (link != null && peers[link.peer()].toldResult < task.reduceLength) {
                    return false;
                }
            }
        }
        return true;
    }

    private int tellEnd(Caller caller, @Nullable Link[] links) {
        int used = 0;
        for (Link link : links) {
            if (link != null && !peers[link.peer()].toldEnd && link.canSend()) {
                link.sendSmall(caller.header(), READS_NO_MORE, link.memory(), 0, 0);
                peers[link.peer()].toldEnd = true;
                used += MESSAGE_COST;
            }
        }
        return used;
    }
}
