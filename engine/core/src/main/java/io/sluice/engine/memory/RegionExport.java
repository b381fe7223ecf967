package io.sluice.engine.memory;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.MemoryChecksum;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.WorkRequest;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The grant of a descriptor that a peer attached on one connection. Every request of the peer is checked against it.
 */
final class RegionExport implements ExportedRegion {
    private final LocalRegion region;
    private final int transport;
    private final long key;
    private final long epoch;
    private final Set<Access> access;
    private final boolean readable;
    private final boolean writable;
    private final RegionMemory memory;
    private final long base;

    RegionExport(LocalRegion region, RegionDescriptor descriptor, int transport) {
        this.region = region;
        this.transport = transport;
        this.key = descriptor.key();
        this.epoch = descriptor.epoch();
        this.access = descriptor.access();
        this.readable = access.contains(Access.REMOTE_READ);
        this.writable = access.contains(Access.REMOTE_WRITE);
        this.base = descriptor.offset();
        this.memory = region.memory().slice(descriptor.offset(), descriptor.length());
    }

    LocalRegion region() {
        return region;
    }

    @Override
    public CompletionStatus acquire(
            WorkRequest.Opcode operation, long presentedKey, long presentedEpoch, long offset, long length) {
        if (presentedEpoch != epoch) {
            return CompletionStatus.STALE_EPOCH;
        }
        if (presentedKey != key) {
            return CompletionStatus.BAD_KEY;
        }
        long size = memory.length();
        if (offset < 0 || length < 0 || offset > size - length) {
            return CompletionStatus.OUT_OF_BOUNDS;
        }
        if ((operation.changesRemote() && !writable) || (operation.bringsBack() && !readable)) {
            return CompletionStatus.ACCESS_DENIED;
        }
        if (operation.isAtomic()) {
            if (!region.words().areReachable()) {
                return CompletionStatus.UNSUPPORTED;
            }
            if (!region.words().isAligned(base + offset)) {
                return CompletionStatus.MISALIGNED;
            }
            if (region.atomicDomain() != AtomicDomain.TARGET_CPU) {
                return CompletionStatus.ATOMIC_DOMAIN;
            }
        }
        return region.acquire() ? CompletionStatus.SUCCESS : CompletionStatus.UNKNOWN_REGION;
    }

    /** Whether a checksum of it can be computed. */
    boolean canBeSummed() {
        return region.words().areReachable();
    }

    /** Continues a checksum over a part of it. The lease must be held. */
    void addTo(MemoryChecksum sum, long offset, long length) {
        region.words().addTo(sum, base + offset, length);
    }

    @Override
    public boolean lease() {
        return region.acquire();
    }

    @Override
    public Set<Access> access() {
        return access;
    }

    @Override
    public AtomicDomain atomicDomain() {
        return region.atomicDomain();
    }

    @Override
    public void release() {
        region.release();
    }

    @Override
    public boolean isOpen() {
        return region.isOpen();
    }

    @Override
    public @Nullable RegisteredMemory registration() {
        return region.registration(transport);
    }

    @Override
    public void changed(long offset) {
        region.words().changed(base + offset);
    }

    @Override
    public RegionMemory memory() {
        return memory;
    }

    @Override
    public long fetchAdd(long offset, long addend) {
        return region.words().fetchAdd(base + offset, addend);
    }

    @Override
    public long compareAndSwap(long offset, long expected, long replacement) {
        return region.words().compareAndSwap(base + offset, expected, replacement);
    }
}
