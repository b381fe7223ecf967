package io.sluice.experts;

import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.SymmetricMemory;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The memory of normal mode, and the other ranks. The loop's alone. */
final class NormalLinks {
    final NormalMemory at;
    final SymmetricMemory memory;
    /** All of this rank's. */
    final MemorySegment segment;

    final int rank;
    private final @Nullable NormalPeer[] peers;

    NormalLinks(BufferHost host, CommBackend backend, NormalMemory at, SymmetricMemory memory) {
        this.at = at;
        this.memory = memory;
        this.segment = memory.segment();
        this.rank = backend.rank();
        this.peers = new NormalPeer[at.ranks];
        for (int peer = 0; peer < at.ranks; peer++) {
            if (peer != rank) {
                peers[peer] = new NormalPeer(host, backend, at, memory, peer);
            }
        }
    }

    NormalPeer peer(int other) {
        return Objects.requireNonNull(peers[other]);
    }

    /** The memory of a rank where stores reach it: this one's, or another's that is mapped. */
    @Nullable
    MemorySegment reachable(int other) {
        return other == rank ? segment : memory.mapped(other);
    }

    /** A rank whose mapped memory is gone, or -1. */
    int unmapped() {
        for (int other = 0; other < peers.length; other++) {
            MemorySegment mapped = other == rank ? null : memory.mapped(other);
            if (mapped != null && !mapped.scope().isAlive()) {
                return other;
            }
        }
        return -1;
    }

    /** Whether nothing that was sent reads memory of this rank any more. */
    boolean isIdle() {
        for (NormalPeer peer : peers) {
            if (peer != null && !peer.isIdle()) {
                return false;
            }
        }
        return true;
    }

    /** Says to all that this rank calls nothing more. */
    void leave() {
        for (NormalPeer peer : peers) {
            if (peer != null) {
                peer.leave();
            }
        }
    }

    void close() {
        for (NormalPeer peer : peers) {
            if (peer != null) {
                peer.close();
            }
        }
    }
}
