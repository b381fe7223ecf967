package io.sluice.engine.contract;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** Bytes that processors see, reached where they lie and by plain accesses, as a user's code would. */
record HostBytes(MemorySegment segment) implements ContractBytes {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    @Override
    public long length() {
        return segment.byteSize();
    }

    @Override
    public ContractBytes slice(long offset, long length) {
        return new HostBytes(segment.asSlice(offset, length));
    }

    @Override
    public MemorySegment contents() {
        return segment.asReadOnly();
    }

    @Override
    public void write(long offset, MemorySegment from) {
        MemorySegment.copy(from, 0, segment, offset, from.byteSize());
    }

    @Override
    public void fill(byte value) {
        segment.fill(value);
    }

    @Override
    public long getAndAdd(long offset, long addend) {
        return (long) WORD.getAndAdd(segment, offset, addend);
    }

    @Override
    public long mismatch(ContractBytes other) {
        return other instanceof HostBytes host ? segment.mismatch(host.segment) : ContractBytes.super.mismatch(other);
    }

    @Override
    public byte byteAt(long offset) {
        return segment.get(ValueLayout.JAVA_BYTE, offset);
    }

    @Override
    public int intAt(long offset) {
        return segment.get(ValueLayout.JAVA_INT_UNALIGNED, offset);
    }

    @Override
    public long longAt(long offset) {
        return segment.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    @Override
    public void setLong(long offset, long value) {
        segment.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
    }
}
