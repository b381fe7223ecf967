package io.sluice.engine.memory;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.Signal;
import io.sluice.engine.transport.LeasedRegion;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A part of a region, with the region's lifetime.
 *
 * @param region the region
 * @param offset the offset from the region's start, in bytes
 * @param length the length in bytes
 */
record RegionSlice(LocalRegion region, long offset, long length) implements MemoryRegion, LeasedRegion {
    @Override
    public @Nullable Runnable lease(Runnable closing) {
        return region.lease(closing);
    }

    @Override
    public MemoryKind kind() {
        return region.kind();
    }

    @Override
    public Set<Access> access() {
        return region.access();
    }

    @Override
    public @Nullable String name() {
        return null;
    }

    @Override
    public RegionMemory memory() {
        return region.memory().slice(offset, length);
    }

    @Override
    public MemorySegment segment() {
        return region.segment().asSlice(offset, length);
    }

    @Override
    public AtomicDomain atomicDomain() {
        return region.atomicDomain();
    }

    @Override
    public Signal signal(long at) {
        return region.signal(this, at, offset + at);
    }

    @Override
    public long checksum(long from, long bytes) {
        Objects.checkFromIndexSize(from, bytes, length);
        return region.checksum(offset + from, bytes);
    }

    @Override
    public MemoryRegion slice(long from, long bytes) {
        Objects.checkFromIndexSize(from, bytes, length);
        return new RegionSlice(region, offset + from, bytes);
    }

    @Override
    public RegionDescriptor descriptor() {
        return descriptor(access());
    }

    @Override
    public RegionDescriptor descriptor(Set<Access> rights) {
        return region.descriptor(rights, offset, length);
    }

    @Override
    public boolean isOpen() {
        return region.isOpen();
    }

    @Override
    public CompletableFuture<Void> close() {
        return CompletableFuture.failedFuture(
                new IllegalStateException("a slice has no lifetime of its own; close its region"));
    }
}
