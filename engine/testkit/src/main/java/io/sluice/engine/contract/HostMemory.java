package io.sluice.engine.contract;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Memory that processors see. */
public final class HostMemory implements ContractMemory {
    private static final HostMemory ALLOCATED = new HostMemory(null);

    private final @Nullable LongFunction<MemorySegment> source;

    private HostMemory(@Nullable LongFunction<MemorySegment> source) {
        this.source = source;
    }

    /**
     * The engines allocate the regions.
     *
     * @return the memory
     */
    public static HostMemory allocated() {
        return ALLOCATED;
    }

    /**
     * The regions are over memory of the test's own.
     *
     * @return the memory
     */
    public static HostMemory registered() {
        return registered(bytes -> Arena.ofAuto().allocate(bytes, Long.BYTES));
    }

    /**
     * The regions are over memory of the test's own.
     *
     * @param source gives so many bytes, aligned for words, for as long as they are reachable
     * @return the memory
     */
    public static HostMemory registered(LongFunction<MemorySegment> source) {
        return new HostMemory(source);
    }

    @Override
    public boolean isHost() {
        return true;
    }

    @Override
    public MemoryRegion allocate(TransferEngine engine, long bytes, RegionOptions options) {
        return engine.allocate(bytes, options);
    }

    @Override
    public MemoryRegion region(TransferEngine engine, long bytes, RegionOptions options) {
        return source == null ? allocate(engine, bytes, options) : engine.register(source.apply(bytes), options);
    }

    @Override
    public OwnMemory own(long bytes, long alignment) {
        Arena arena = Arena.ofShared();
        return new Own(arena, arena.allocate(bytes, alignment));
    }

    @Override
    public ContractBytes bytes(MemoryRegion region) {
        return ContractBytes.of(region.segment());
    }

    /** Lives as long as its arena. */
    private record Own(Arena arena, MemorySegment segment) implements OwnMemory {
        @Override
        public ContractBytes bytes() {
            return ContractBytes.of(segment);
        }

        @Override
        public MemoryRegion register(TransferEngine engine, RegionOptions options) {
            return engine.register(segment, options);
        }

        @Override
        public void close() {
            arena.close();
        }
    }
}
