package io.sluice.cuda;

import io.sluice.engine.contract.ContractBytes;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** Bytes of one of the machine's GPUs. */
record RealGpuBytes(int ordinal, long address, long length) implements ContractBytes {
    @Override
    public ContractBytes slice(long offset, long bytes) {
        Objects.checkFromIndexSize(offset, bytes, length);
        return new RealGpuBytes(ordinal, address + offset, bytes);
    }

    @Override
    public MemorySegment contents() {
        return RealGpu.read(ordinal, address, length).asReadOnly();
    }

    @Override
    public void write(long offset, MemorySegment from) {
        Objects.checkFromIndexSize(offset, from.byteSize(), length);
        RealGpu.write(ordinal, address + offset, from);
    }

    @Override
    public void fill(byte value) {
        RealGpu.fill(ordinal, address, length, value);
    }

    @Override
    public long getAndAdd(long offset, long addend) {
        Objects.checkFromIndexSize(offset, Long.BYTES, length);
        return RealGpu.getAndAdd(ordinal, address + offset, addend);
    }
}
