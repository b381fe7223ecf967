package io.sluice.cuda;

import io.sluice.engine.Access;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** An attached region or slice. On the loop's thread. */
final class CudaRemoteKey extends RemoteKey {
    private final MemoryKeys keys;
    private final long bytes;
    private final boolean readable;
    private final boolean writable;
    private final PeerAllocation allocation;
    private final Lender lender;
    private int inFlight;
    private boolean ended;
    private boolean wordOwed;

    CudaRemoteKey(long handle, RegionDescriptor descriptor, MemoryKeys keys, PeerAllocation allocation, Lender lender) {
        super(handle, descriptor.key(), descriptor.epoch());
        this.keys = keys;
        this.bytes = descriptor.length();
        this.readable = descriptor.access().contains(Access.REMOTE_READ);
        this.writable = descriptor.access().contains(Access.REMOTE_WRITE);
        this.allocation = allocation;
        this.lender = lender;
    }

    /** Whose keys they are, which lets kernels of the user's reach the regions. */
    interface Lender {
        /** Maps a region for kernels of a GPU; any thread. */
        void lend(CudaRemoteKey key, int ordinal, CompletableFuture<MappedRegion> result);
    }

    Lender lender() {
        return lender;
    }

    /** How long the slice is. */
    long length() {
        return bytes;
    }

    PeerAllocation allocation() {
        return allocation;
    }

    /** Where a GPU of this process sees the slice; the allocation is mapped for it. */
    long address(int ordinal) {
        return allocation.address(ordinal) + keys.start();
    }

    /** Why an operation cannot be carried out, or null. */
    @Nullable
    CompletionStatus refusal(WorkRequest.Opcode operation, long offset, long length) {
        if (ended) {
            return CompletionStatus.UNKNOWN_REGION;
        }
        if (offset < 0 || length < 0 || offset > bytes - length) {
            return CompletionStatus.OUT_OF_BOUNDS;
        }
        if ((operation.changesRemote() && !writable) || (operation.bringsBack() && !readable)) {
            return CompletionStatus.ACCESS_DENIED;
        }
        if (!allocation.isAlive()) {
            return CompletionStatus.REMOTE_MEMORY_FAULT;
        }
        if (operation.isAtomic()) {
            if ((keys.start() + offset) % WorkRequest.WORD_BYTES != 0) {
                return CompletionStatus.MISALIGNED;
            }
            return keys.words() ? null : CompletionStatus.ATOMIC_DOMAIN;
        }
        return null;
    }

    void posted() {
        inFlight++;
    }

    /** One more has been carried out; true if it was the last of a key that has ended. */
    boolean completed() {
        return --inFlight == 0 && ended;
    }

    /** Nothing new may reach the region; true if nothing is under way either, for the first call. */
    boolean end() {
        boolean first = !ended;
        ended = true;
        return first && inFlight == 0;
    }

    boolean hasEnded() {
        return ended;
    }

    /** The target waits for the word that the region is not used any more. */
    void oweWord() {
        wordOwed = true;
    }

    boolean owesWord() {
        return wordOwed;
    }
}
