package io.sluice.engine.transport.device;

import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.contract.ContractBytes;
import io.sluice.engine.contract.ContractMemory;
import io.sluice.engine.contract.OwnMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/** The device's memory as a test sees it: through the back door, as the device itself would. */
final class DeviceMemory implements ContractMemory {
    static final String DEVICE = "GPU-8c7a1d2e-0000-0000-0000-000000000002";

    private static final ConcurrentSkipListMap<Long, MemorySegment> MADE = new ConcurrentSkipListMap<>();

    static RegionOptions on(RegionOptions options) {
        return options.on(MemoryKind.CUDA, DEVICE);
    }

    /** From now on a test can look into it. */
    static void made(MemorySegment memory) {
        MADE.put(memory.address(), memory);
    }

    static void freed(MemorySegment memory) {
        MADE.remove(memory.address(), memory);
    }

    /** The content of a region, or of a slice, of either kind of memory. */
    static MemorySegment contents(MemoryRegion region) {
        if (region.memory().isHost()) {
            return region.segment();
        }
        long address = region.memory().address();
        Map.Entry<Long, MemorySegment> whole = MADE.floorEntry(address);
        if (whole == null || address - whole.getKey() >= whole.getValue().byteSize()) {
            throw new IllegalStateException("the device's memory was freed");
        }
        return whole.getValue().asSlice(address - whole.getKey(), region.length());
    }

    @Override
    public boolean isHost() {
        return false;
    }

    @Override
    public MemoryRegion allocate(TransferEngine engine, long bytes, RegionOptions options) {
        return engine.allocate(bytes, on(options));
    }

    @Override
    public OwnMemory own(long bytes, long alignment) {
        Arena arena = Arena.ofShared();
        MemorySegment memory = arena.allocate(bytes, alignment);
        made(memory);
        return new Own(arena, memory);
    }

    @Override
    public ContractBytes bytes(MemoryRegion region) {
        return ContractBytes.of(contents(region));
    }

    private record Own(Arena arena, MemorySegment segment) implements OwnMemory {
        @Override
        public ContractBytes bytes() {
            return ContractBytes.of(segment);
        }

        @Override
        public MemoryRegion register(TransferEngine engine, RegionOptions options) {
            return engine.register(
                    RegionMemory.device(
                            MemoryKind.CUDA, DEVICE, segment.address(), segment.byteSize(), segment.scope()::isAlive),
                    on(options));
        }

        @Override
        public void close() {
            freed(segment);
            arena.close();
        }
    }
}
