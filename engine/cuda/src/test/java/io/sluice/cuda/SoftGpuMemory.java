package io.sluice.cuda;

import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.contract.ContractBytes;
import io.sluice.engine.contract.ContractMemory;
import io.sluice.engine.contract.OwnMemory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Memory of the GPUs in software, one after the other; if wanted, of the host too where no peer reaches it. */
final class SoftGpuMemory implements ContractMemory {
    private static final int GPUS = 2;

    private final boolean mixed;
    private final AtomicInteger locals = new AtomicInteger();
    private final AtomicInteger served = new AtomicInteger(1);

    SoftGpuMemory(boolean mixed) {
        SoftGpu.load();
        this.mixed = mixed;
    }

    @Override
    public boolean isHost() {
        return false;
    }

    private static RegionOptions on(int ordinal, RegionOptions options) {
        return options.on(MemoryKind.CUDA, SoftGpu.id(ordinal));
    }

    @Override
    public MemoryRegion allocate(TransferEngine engine, long bytes, RegionOptions options) {
        return engine.allocate(bytes, on(served.getAndIncrement() % GPUS, options));
    }

    @Override
    public MemoryRegion region(TransferEngine engine, long bytes, RegionOptions options) {
        if (!options.access().isEmpty()) {
            return allocate(engine, bytes, options);
        }
        int turn = locals.getAndIncrement() % (mixed ? GPUS + 1 : GPUS);
        return engine.allocate(bytes, turn == GPUS ? options : on(turn, options));
    }

    @Override
    public OwnMemory own(long bytes, long alignment) {
        return new Own(served.getAndIncrement() % GPUS, bytes);
    }

    @Override
    public ContractBytes bytes(MemoryRegion region) {
        RegionMemory memory = region.memory();
        if (memory.isHost()) {
            return ContractBytes.of(region.segment());
        }
        int ordinal = SoftGpu.id(0).equals(memory.device()) ? 0 : 1;
        return SoftGpu.bytes(ordinal, memory.address(), memory.length());
    }

    /** As of {@code cudaMalloc}. */
    private static final class Own implements OwnMemory {
        private final int ordinal;
        private final long bytes;
        private final long address;
        private final AtomicBoolean open = new AtomicBoolean(true);

        Own(int ordinal, long bytes) {
            this.ordinal = ordinal;
            this.bytes = bytes;
            this.address = SoftGpu.malloc(ordinal, bytes);
        }

        @Override
        public ContractBytes bytes() {
            return SoftGpu.bytes(ordinal, address, bytes);
        }

        @Override
        public MemoryRegion register(TransferEngine engine, RegionOptions options) {
            return engine.register(
                    RegionMemory.device(MemoryKind.CUDA, SoftGpu.id(ordinal), address, bytes, open::get),
                    on(ordinal, options));
        }

        @Override
        public void close() {
            open.set(false);
            SoftGpu.free(ordinal, address);
        }
    }
}
