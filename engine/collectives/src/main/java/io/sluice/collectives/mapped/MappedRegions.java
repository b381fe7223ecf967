package io.sluice.collectives.mapped;

import io.sluice.collectives.link.LinkLayout;
import io.sluice.engine.Access;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.jni.Reduce;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The user's regions that ranks of a team read of each other. A rank gives each a number, whose descriptor travels until
 * all ranks have attached it; a number that is used again has another generation. All of it is the loop's.
 */
public final class MappedRegions {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int NUMBERS = 64;
    private static final long MAPS_ALL = 2;
    private static final long MAPS_NOT_ALL = 1;

    private final int rank;
    private final LinkLayout layout;
    private final MemorySegment memory;
    private final @Nullable RemoteRegion[] team;
    private final Runnable changed;
    private final boolean mapsAll;
    private final @Nullable Given[] given = new Given[NUMBERS];
    private final @Nullable Attached[][] attached;
    // the addresses of operands
    private final MemorySegment table;
    private int generations;
    private int nextNumber;

    /** Whether all ranks of a team have mapped each other. */
    public enum Possible {
        /** Not all have said it. */
        UNKNOWN,
        YES,
        NO
    }

    /** A region of this rank. */
    static final class Given {
        final MemoryRegion region;
        final int number;
        final int generation;
        final byte[] descriptor;
        boolean known;
        boolean refused;
        int users;

        Given(MemoryRegion region, int number, int generation) {
            this.region = region;
            this.number = number;
            this.generation = generation;
            this.descriptor = region.descriptor().toBytes();
        }
    }

    /** A region of another rank. */
    static final class Attached {
        final int generation;
        boolean settled;

        @Nullable
        RemoteRegion remote;

        @Nullable
        MemorySegment memory;

        Attached(int generation) {
            this.generation = generation;
        }
    }

    /**
     * Creates it without regions.
     *
     * @param rank this rank
     * @param own the region that this rank gives the team
     * @param team the regions of the other ranks; null for this one
     * @param changed run when a collective may go on that waits for something here
     */
    public MappedRegions(
            LinkLayout layout,
            int rank,
            MemoryRegion own,
            @Nullable RemoteRegion[] team,
            boolean mapsAll,
            Runnable changed) {
        this.rank = rank;
        this.layout = layout;
        this.memory = own.segment();
        this.team = team;
        this.changed = changed;
        this.mapsAll = mapsAll && team.length <= Reduce.MAX_OPERANDS;
        this.attached = new Attached[team.length][];
        this.table = Arena.ofAuto().allocate((long) team.length * Long.BYTES, Long.BYTES);
    }

    /** What this rank tells the others in {@link LinkLayout#mapsAt}. */
    public long word() {
        return mapsAll ? MAPS_ALL : MAPS_NOT_ALL;
    }

    /** Returns whether all ranks have mapped each other; all ranks get the same answer. */
    Possible possible() {
        if (!mapsAll) {
            return Possible.NO;
        }
        Possible all = Possible.YES;
        for (int peer = 0; peer < team.length; peer++) {
            if (team[peer] != null) {
                long word = (long) WORD.getAcquire(memory, layout.mapsAt(peer));
                if (word == MAPS_NOT_ALL) {
                    return Possible.NO;
                }
                all = word == 0 ? Possible.UNKNOWN : all;
            }
        }
        return all;
    }

    /** Whether a rank has ended its collectives with an error: what was read of its memory may have changed before. */
    boolean isBrokenOff() {
        // after all that was read
        VarHandle.acquireFence();
        for (int peer = 0; peer < team.length; peer++) {
            if (team[peer] != null && (long) WORD.getAcquire(memory, layout.brokenOffAt(peer)) != 0) {
                return true;
            }
        }
        return false;
    }

    int rank() {
        return rank;
    }

    int size() {
        return team.length;
    }

    MemorySegment table() {
        return table;
    }

    // ---- of this rank ----

    /** Returns the region as the others know it, or null if they cannot read it. */
    @Nullable
    Given give(MemoryRegion region) {
        if (!region.access().contains(Access.REMOTE_READ) || !region.isOpen()) {
            return null;
        }
        for (Given each : given) {
            if (each != null && each.region.equals(region)) {
                return each;
            }
        }
        int number = freeNumber();
        Given added = new Given(region, number, ++generations);
        given[number] = added;
        return added;
    }

    boolean isGiven(Given which) {
        return Objects.equals(given[which.number], which);
    }

    private int freeNumber() {
        for (int i = 0; i < NUMBERS; i++) {
            Given each = given[i];
            if (each == null || (each.users == 0 && !each.region.isOpen())) {
                return i;
            }
        }
        // fewer collectives run at once
        do {
            nextNumber = (nextNumber + 1) % NUMBERS;
        } while (Objects.requireNonNull(given[nextNumber]).users > 0);
        return nextNumber;
    }

    // ---- of others ----

    /** Attaches a region of a peer, unless it is. */
    void learn(int peer, int number, int generation, byte[] descriptor) {
        @Nullable Attached[] all = attached[peer];
        if (all == null) {
            all = new Attached[NUMBERS];
            attached[peer] = all;
        }
        int index = Objects.checkIndex(number, NUMBERS);
        Attached before = all[index];
        // an older one comes late, on another channel, and from a collective that went another way
        if (before != null && before.generation >= generation) {
            return;
        }
        if (before != null) {
            detach(peer, before);
        }
        Attached added = new Attached(generation);
        all[index] = added;
        Connection connection = connection(peer);
        try {
            connection.attach(RegionDescriptor.fromBytes(descriptor)).whenComplete((remote, error) -> {
                try {
                    connection.loop().execute(() -> settled(peer, index, added, remote));
                } catch (SluiceException engineIsClosed) {
                    // the collective ends as well
                }
            });
        } catch (SluiceException refused) {
            added.settled = true;
        }
    }

    private void settled(int peer, int number, Attached which, @Nullable RemoteRegion remote) {
        which.settled = true;
        which.remote = remote;
        which.memory = remote == null ? null : remote.mapped();
        @Nullable Attached[] all = attached[peer];
        if (all != null && all[number] != which) {
            detach(peer, which);
        }
        changed.run();
    }

    private void detach(int peer, Attached which) {
        RemoteRegion remote = which.remote;
        if (remote != null) {
            which.remote = null;
            try {
                connection(peer).detach(remote);
            } catch (SluiceException ended) {
                // with the connection
            }
        }
    }

    private Connection connection(int peer) {
        return Objects.requireNonNull(team[peer]).connection();
    }

    /** Returns a region of a peer that was learned. */
    Attached attached(int peer, int number, int generation) {
        @Nullable Attached[] all = attached[peer];
        Attached which = all == null ? null : all[Objects.checkIndex(number, NUMBERS)];
        if (which == null || which.generation != generation) {
            throw new IllegalStateException("rank " + peer + " names a region that it has not given");
        }
        return which;
    }
}
