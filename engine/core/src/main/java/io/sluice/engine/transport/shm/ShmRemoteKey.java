package io.sluice.engine.transport.shm;

import io.sluice.engine.transport.RemoteKey;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * An attached region or slice. The bytes of one that is mapped are a segment with an arena of its own: to close the arena is to
 * make sure that no thread touches the bytes through this key any more.
 */
final class ShmRemoteKey extends RemoteKey {
    private final RegionKeys keys;
    private final long bytes;
    // of a mapped one: null before it is mapped and after it has ended; read by any thread
    private volatile @Nullable MemorySegment memory;

    // the loop's
    private @Nullable Arena arena;
    private @Nullable RemoteFile file;
    private boolean ended;
    private boolean wordOwed;

    ShmRemoteKey(long handle, long key, long epoch, RegionKeys keys, long bytes) {
        super(handle, key, epoch);
        this.keys = keys;
        this.bytes = bytes;
    }

    RegionKeys keys() {
        return keys;
    }

    long bytes() {
        return bytes;
    }

    /** The bytes, or null if they are not mapped. Any thread. */
    @Nullable
    MemorySegment memory() {
        return memory;
    }

    /** Only where they are mapped, and are the processors' to change: an adapter's are another path's, if there is one. */
    @Override
    public boolean carriesWords() {
        return isMapped() && keys.processorAtomics();
    }

    boolean isMapped() {
        return keys.way() == RegionKeys.Way.MAPPED;
    }

    boolean hasEnded() {
        return ended;
    }

    @SuppressWarnings("restricted") // the file's mapping outlives the arena
    void bind(RemoteFile mapped) {
        Arena own = Arena.ofShared();
        MemorySegment whole =
                MemorySegment.ofAddress(mapped.address() + keys.start()).reinterpret(bytes, own, null);
        arena = own;
        file = mapped;
        memory = keys.writable() ? whole : whole.asReadOnly();
    }

    /** Nothing new may reach the region. */
    void end() {
        ended = true;
        memory = null;
    }

    /**
     * Lets go of the mapping, unless a thread touches it at this moment.
     *
     * @return true if it is done, also if there was none
     */
    boolean tryLetGo() {
        Arena own = arena;
        if (own == null) {
            return true;
        }
        try {
            own.close();
        } catch (IllegalStateException inUse) {
            return false;
        }
        arena = null;
        return true;
    }

    /** The file that it was bound to, once. */
    @Nullable
    RemoteFile takeFile() {
        RemoteFile mapped = file;
        file = null;
        return mapped;
    }

    /** The target waits for the word that the region is not used any more. */
    void oweWord() {
        wordOwed = true;
    }

    boolean owesWord() {
        return wordOwed;
    }

    void saidWord() {
        wordOwed = false;
    }
}
