package io.sluice.experts;

import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.SymmetricMemory;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The memory of the low-latency calls on this rank, and the other ranks. The loop's alone, but for {@link #close}. */
final class LowLatencyMemory {
    final LowLatencyLayout layout;
    final BufferHost host;
    final CommBackend backend;
    final SymmetricMemory window;

    /** This rank's window. */
    final MemorySegment own;

    /** For messages of ranks that do not map each other; null if all do. */
    final @Nullable SymmetricMemory slots;

    final int rank;
    private final @Nullable Peer[] peers;

    // ranks that have received, and what this rank itself has
    private final long[] ownDispatchesTaken = new long[LowLatencyLayout.SETS];
    private final long[] ownCombinesTaken = new long[LowLatencyLayout.SETS];

    /**
     * Creates it, on the loop.
     *
     * @param mutual the ranks that have mapped this rank's window, and whose windows this rank has mapped
     */
    LowLatencyMemory(
            LowLatencyLayout layout,
            BufferHost host,
            CommBackend backend,
            SymmetricMemory window,
            @Nullable SymmetricMemory slots,
            boolean[] mutual) {
        this.layout = layout;
        this.host = host;
        this.backend = backend;
        this.window = window;
        this.own = window.segment();
        this.slots = slots;
        this.rank = backend.rank();
        this.peers = new Peer[backend.ranks()];
        for (int other = 0; other < peers.length; other++) {
            peers[other] = other == rank ? null : new Peer(host, backend, layout, window, other, mutual[other]);
        }
    }

    int ranks() {
        return peers.length;
    }

    /** Returns another rank, or null for this one. */
    @Nullable
    Peer peer(int other) {
        return peers[other];
    }

    /** The window of a rank where this process can access it: its own, or one that is mapped; else null. */
    @Nullable
    MemorySegment windowOf(int other) {
        Peer peer = peers[other];
        return peer == null ? own : peer.mapped;
    }

    /** Whether the set of a dispatch may be written: all have received what it held, and nothing of it is under way. */
    boolean mayDispatch(long generation) {
        int set = LowLatencyLayout.set(generation);
        long before = LowLatencyLayout.before(generation);
        boolean may = ownDispatchesTaken[set] >= before;
        for (Peer peer : peers) {
            if (peer != null) {
                may &= peer.dispatchSends[set].isIdle() & peer.dispatchTaken[set].reached(before);
            }
        }
        return may;
    }

    /** Whether the set of a combine may be written. */
    boolean mayCombine(long generation) {
        int set = LowLatencyLayout.set(generation);
        long before = LowLatencyLayout.before(generation);
        boolean may = ownCombinesTaken[set] >= before;
        for (Peer peer : peers) {
            if (peer != null) {
                may &= peer.combineSends[set].isIdle() & peer.combineTaken[set].reached(before);
            }
        }
        return may;
    }

    /** A dispatch was received here: its memory on all ranks may be written again. */
    void tookDispatch(int set) {
        ownDispatchesTaken[set]++;
        for (Peer peer : peers) {
            if (peer != null) {
                peer.takesDispatch(set);
            }
        }
    }

    /** A combine was received here: its slots may be written again. */
    void tookCombine(int set) {
        ownCombinesTaken[set]++;
        for (Peer peer : peers) {
            if (peer != null) {
                peer.takesCombine(set);
            }
        }
    }

    /** Whether all other ranks have received what was sent, so far as they have not left. */
    boolean isAllTaken(long dispatches, long combines) {
        boolean all = true;
        for (Peer peer : peers) {
            if (peer != null && !peer.isGone()) {
                all &= isTaken(peer.dispatchTaken, dispatches) & isTaken(peer.combineTaken, combines);
            }
        }
        return all;
    }

    private static boolean isTaken(Word[] words, long generations) {
        // the last two, one in each set
        boolean last = generations < 1 || reached(words, generations);
        return last & (generations < 2 || reached(words, generations - 1));
    }

    private static boolean reached(Word[] words, long generation) {
        return words[LowLatencyLayout.set(generation)].reached(LowLatencyLayout.before(generation) + 1);
    }

    /** Returns a rank that has closed its buffer, or -1. */
    int firstClosed() {
        for (Peer peer : peers) {
            if (peer != null && peer.isClosed()) {
                return peer.rank;
            }
        }
        return -1;
    }

    /** Returns a rank whose window is not mapped any more, or -1. */
    int firstUnmapped() {
        for (Peer peer : peers) {
            MemorySegment mapped = peer == null ? null : peer.mapped;
            if (peer != null && mapped != null && !mapped.scope().isAlive()) {
                return peer.rank;
            }
        }
        return -1;
    }

    /** Says that this rank makes no more calls, and why. */
    void leave(long why) {
        for (Peer peer : peers) {
            if (peer != null) {
                peer.leaves(why);
            }
        }
    }

    /** Stops waiting for words. */
    void stop() {
        for (Peer peer : peers) {
            if (peer != null) {
                peer.close();
            }
        }
    }

    CompletableFuture<Void> close() {
        SymmetricMemory messages = slots;
        return CompletableFuture.allOf(
                backend.free(window),
                messages == null ? CompletableFuture.completedFuture(null) : backend.free(messages));
    }
}
