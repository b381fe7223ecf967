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

/** The device's memory as a test sees it: through the back door, as the device itself would. */
final class DeviceMemory implements ContractMemory {
    static final String DEVICE = "GPU-8c7a1d2e-0000-0000-0000-000000000002";

    static RegionOptions on(RegionOptions options) {
        return options.on(MemoryKind.CUDA, DEVICE);
    }

    static MemorySegment contents(MemoryRegion region) {
        return MemorySegment.ofAddress(region.memory().address()).reinterpret(region.length());
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
        return new Own(arena, arena.allocate(bytes, alignment));
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
                            MemoryKind.CUDA,
                            DEVICE,
                            segment.address(),
                            segment.byteSize(),
                            segment.scope()::isAlive),
                    on(options));
        }

        @Override
        public void close() {
            arena.close();
        }
    }
}
