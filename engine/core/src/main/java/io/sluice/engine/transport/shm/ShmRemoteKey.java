package io.sluice.engine.transport.shm;

import io.sluice.engine.transport.RemoteKey;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * An attached region or slice. Mapped bytes are a segment with its own arena; closing the arena ensures that no thread
 * accesses the bytes through this key any more.
 */
final class ShmRemoteKey extends RemoteKey {
    private final RegionKeys keys;
    private final long bytes;
    // of a mapped region: null before it is mapped and after it has ended; read by any thread
    private volatile @Nullable MemorySegment memory;

    // confined to the loop
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

    /** Returns the bytes, or null if they are not mapped. Any thread. */
    @Nullable
    MemorySegment memory() {
        return memory;
    }

    /**
     * Whether processors may change words here: only in mapped memory of the processors' domain. The adapter's domain
     * belongs to another path, if there is one.
     */
    @Override
    public boolean carriesWords() {
        return isMapped() && keys.processorAtomics();
    }

    @Override
    public @Nullable MemorySegment mapped() {
        return memory;
    }

    boolean isMapped() {
        return keys.way() == RegionKeys.Way.MAPPED;
    }

    boolean hasEnded() {
        return ended;
    }

    boolean isBound() {
        return file != null;
    }

    @SuppressWarnings("restricted") // the mapping of the file outlives the arena
    void bind(RemoteFile mapped) {
        Arena own = Arena.ofShared();
        MemorySegment whole =
                MemorySegment.ofAddress(mapped.address() + keys.start()).reinterpret(bytes, own, null);
        arena = own;
        file = mapped;
        memory = keys.writable() ? whole : whole.asReadOnly();
    }

    /** Refuses new accesses to the region. */
    void end() {
        ended = true;
        memory = null;
    }

    /**
     * Releases the mapping unless a thread accesses it at this moment.
     *
     * @return true if it is released, also if there was none
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

    /** Returns the file that it was bound to, once. */
    @Nullable
    RemoteFile takeFile() {
        RemoteFile mapped = file;
        file = null;
        return mapped;
    }

    /** The target waits for the confirmation that the region is no longer used. */
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
