package io.sluice.engine.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import java.lang.foreign.MemorySegment;

/** Host memory that the contract sees by copies alone, as it would see a device's. */
public final class CopiedMemory implements ContractMemory {
    private final ContractMemory host = HostMemory.allocated();

    @Override
    public boolean isHost() {
        return false;
    }

    @Override
    public MemoryRegion allocate(TransferEngine engine, long bytes, RegionOptions options) {
        return host.allocate(engine, bytes, options);
    }

    @Override
    public OwnMemory own(long bytes, long alignment) {
        return new Own(host.own(bytes, alignment));
    }

    @Override
    public ContractBytes bytes(MemoryRegion region) {
        return new Copied(host.bytes(region));
    }

    /** A test's own memory, seen by copies. */
    private record Own(OwnMemory memory) implements OwnMemory {
        @Override
        public ContractBytes bytes() {
            return new Copied(memory.bytes());
        }

        @Override
        public MemoryRegion register(TransferEngine engine, RegionOptions options) {
            return memory.register(engine, options);
        }

        @Override
        public void close() {
            memory.close();
        }
    }

    /** Exposes no view of the bytes, and implements only methods without a default. */
    private record Copied(ContractBytes bytes) implements ContractBytes {
        @Override
        public long length() {
            return bytes.length();
        }

        @Override
        public ContractBytes slice(long offset, long length) {
            return new Copied(bytes.slice(offset, length));
        }

        @Override
        public MemorySegment contents() {
            assertThat(length()).as("bytes that are looked at together").isLessThanOrEqualTo(PIECE_BYTES);
            MemorySegment copy = MemorySegment.ofArray(new byte[(int) length()]);
            return copy.copyFrom(bytes.contents()).asReadOnly();
        }

        @Override
        public void write(long offset, MemorySegment from) {
            bytes.write(offset, from);
        }

        @Override
        public void fill(byte value) {
            bytes.fill(value);
        }

        @Override
        public long getAndAdd(long offset, long addend) {
            return bytes.getAndAdd(offset, addend);
        }
    }
}
