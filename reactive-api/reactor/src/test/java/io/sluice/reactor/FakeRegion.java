package io.sluice.reactor;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.Signal;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** A region without memory. */
record FakeRegion(long length) implements MemoryRegion {
    @Override
    public long offset() {
        return 0;
    }

    @Override
    public MemoryKind kind() {
        return MemoryKind.values()[0];
    }

    @Override
    public Set<Access> access() {
        return Set.of();
    }

    @Override
    public String name() {
        return null;
    }

    @Override
    public RegionMemory memory() {
        throw new UnsupportedOperationException();
    }

    @Override
    public MemorySegment segment() {
        throw new UnsupportedOperationException();
    }

    @Override
    public AtomicDomain atomicDomain() {
        return AtomicDomain.TARGET_CPU;
    }

    @Override
    public Signal signal(long offset) {
        return new FakeSignal(this, offset);
    }

    @Override
    public long checksum(long offset, long length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public MemoryRegion slice(long offset, long length) {
        return new FakeRegion(length);
    }

    @Override
    public RegionDescriptor descriptor() {
        throw new UnsupportedOperationException();
    }

    @Override
    public RegionDescriptor descriptor(Set<Access> rights) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public CompletableFuture<Void> close() {
        return CompletableFuture.completedFuture(null);
    }
}
