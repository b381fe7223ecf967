package io.sluice.engine.transport.verbs;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.EnumSet;
import java.util.Set;

/** An attached region whose words this host's processors change. */
final class WordRegion implements ExportedRegion {
    static final long KEY = 0x1122_3344_5566_7788L;
    static final long EPOCH = -5;

    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment segment;
    private final RegisteredMemory registration;
    private volatile boolean open = true;

    WordRegion(MemorySegment segment, RegisteredMemory registration) {
        this.segment = segment;
        this.registration = registration;
    }

    /** From now on it is as a region that closes, and that the loop has not yet taken out of its table. */
    void closing() {
        open = false;
    }

    long word(long offset) {
        return (long) WORD.getVolatile(segment, offset);
    }

    @Override
    public CompletionStatus acquire(WorkRequest.Opcode operation, long key, long epoch, long offset, long length) {
        if (key != KEY) {
            return CompletionStatus.BAD_KEY;
        }
        if (epoch != EPOCH) {
            return CompletionStatus.STALE_EPOCH;
        }
        if (offset < 0 || offset > segment.byteSize() - length) {
            return CompletionStatus.OUT_OF_BOUNDS;
        }
        return operation.isAtomic() && offset % Long.BYTES != 0
                ? CompletionStatus.MISALIGNED
                : CompletionStatus.SUCCESS;
    }

    @Override
    public boolean lease() {
        return true;
    }

    @Override
    public Set<Access> access() {
        return EnumSet.allOf(Access.class);
    }

    @Override
    public AtomicDomain atomicDomain() {
        return AtomicDomain.TARGET_CPU;
    }

    @Override
    public void release() {}

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public RegisteredMemory registration() {
        return registration;
    }

    @Override
    public void changed(long offset) {}

    @Override
    public RegionMemory memory() {
        return RegionMemory.host(segment);
    }

    @Override
    public long fetchAdd(long offset, long addend) {
        return (long) WORD.getAndAdd(segment, offset, addend);
    }

    @Override
    public long compareAndSwap(long offset, long expected, long replacement) {
        return (long) WORD.compareAndExchange(segment, offset, expected, replacement);
    }
}
