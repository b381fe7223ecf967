package io.sluice.engine.transport.reordering;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A region that counts its leases and may look at its bytes whenever a signal comes. */
final class ServedMemory implements ExportedRegion {
    private final RemoteKey key;
    private final MemorySegment segment;
    private Runnable onSignal = () -> {};
    private int leases;
    private boolean open = true;

    ServedMemory(RemoteKey key, MemorySegment segment) {
        this.key = key;
        this.segment = segment;
    }

    RemoteKey key() {
        return key;
    }

    void onSignal(Runnable look) {
        onSignal = look;
    }

    int leases() {
        return leases;
    }

    void close() {
        open = false;
    }

    @Override
    public @Nullable RegisteredMemory registration() {
        return null;
    }

    @Override
    public void changed(long offset) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStatus acquire(
            WorkRequest.Opcode operation, long presentedKey, long presentedEpoch, long offset, long length) {
        if (presentedKey != key.key()) {
            return CompletionStatus.BAD_KEY;
        }
        if (presentedEpoch != key.epoch()) {
            return CompletionStatus.STALE_EPOCH;
        }
        if (offset < 0 || offset > segment.byteSize() - length) {
            return CompletionStatus.OUT_OF_BOUNDS;
        }
        leases++;
        return CompletionStatus.SUCCESS;
    }

    @Override
    public boolean lease() {
        return true;
    }

    @Override
    public Set<Access> access() {
        return EnumSet.allOf(Access.class);
    }

    @Override
    public AtomicDomain atomicDomain() {
        return AtomicDomain.TARGET_CPU;
    }

    @Override
    public void release() {
        leases--;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public RegionMemory memory() {
        return RegionMemory.host(segment);
    }

    @Override
    public long fetchAdd(long offset, long addend) {
        onSignal.run();
        long before = segment.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
        segment.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, before + addend);
        return before;
    }

    @Override
    public long compareAndSwap(long offset, long expected, long replacement) {
        long before = segment.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
        if (before == expected) {
            segment.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, replacement);
        }
        return before;
    }
}
