package io.sluice.engine.transport.shm;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.FaultCheckedCopy;
import io.sluice.engine.transport.MissingMemoryException;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.MemoryCopy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Executes requests on mapped memory: copies and processor atomics. All access goes through segments, so that memory
 * closed concurrently raises an error rather than a fault. The kernel accesses files mapped by the user, which other
 * processes can truncate; files allocated by the peer's engine are sealed. Any thread.
 */
final class MappedMemory {
    // Measured: below this length the downcall of some 35 ns costs more than it saves; above it C is a quarter faster
    // on an AMD EPYC (Zen 5), and equal on an Intel Xeon. A downcall does not delay safepoints, for which all threads
    // would wait.
    private static final long COPY_IN_C_BYTES = 32 << 10;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    private MappedMemory() {}

    /**
     * Copies; throws IllegalStateException if one of the segments is closed.
     *
     * @return false if memory is missing: it belongs to a mapped file that was truncated or has no room
     */
    static boolean copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        if (bytes >= COPY_IN_C_BYTES && !from.isMapped() && !to.isMapped()) {
            MemoryCopy.copy(to, toOffset, from, fromOffset, bytes);
            return true;
        }
        try {
            FaultCheckedCopy.copy(from, fromOffset, to, toOffset, bytes);
            return true;
        } catch (MissingMemoryException | InternalError missing) {
            return false;
        }
    }

    /**
     * Counts how many requests of a batch, all of one operation, copy contiguous bytes on both sides: chunks of one
     * transfer, which together may be large enough for streaming stores.
     *
     * @param mostBytes stop counting at this total
     */
    @SuppressWarnings("ReferenceEquality") // the same key and the same memory, not equal ones
    static int inOnePiece(WorkRequest[] batch, int from, int run, long mostBytes) {
        WorkRequest last = batch[from];
        if (last.hasSignal() || last.hasPages() || !isCopy(last.operation())) {
            return 1;
        }
        long bytes = last.length();
        int count = 1;
        while (count < run && bytes < mostBytes) {
            WorkRequest next = batch[from + count];
            if (next.hasSignal()
                    || next.hasPages()
                    || next.remote() != last.remote()
                    || next.local() != last.local()
                    || next.remoteOffset() != last.remoteOffset() + last.length()
                    || next.localOffset() != last.localOffset() + last.length()) {
                break;
            }
            bytes += next.length();
            last = next;
            count++;
        }
        return count;
    }

    private static boolean isCopy(WorkRequest.Opcode operation) {
        return operation == WorkRequest.Opcode.WRITE || operation == WorkRequest.Opcode.READ;
    }

    /**
     * Executes a request on the bytes of its key, and its signal on the signal's key.
     *
     * @param bytes its length, or that of the whole piece that it begins
     */
    static CompletionStatus execute(WorkRequest request, long bytes) {
        ShmRemoteKey key = (ShmRemoteKey) request.remote();
        MemorySegment memory = key.memory();
        if (memory == null) {
            return CompletionStatus.UNKNOWN_REGION;
        }
        try {
            if (request.hasPages()) {
                return MappedPages.execute(request, memory);
            }
            CompletionStatus status = execute(request, bytes, key, memory);
            return status == CompletionStatus.SUCCESS && request.hasSignal() ? signal(request) : status;
        } catch (IllegalStateException closed) {
            return request.local().isAlive() ? CompletionStatus.UNKNOWN_REGION : CompletionStatus.LOCAL_MEMORY_FAULT;
        }
    }

    private static CompletionStatus execute(WorkRequest request, long bytes, ShmRemoteKey key, MemorySegment memory) {
        long offset = request.remoteOffset();
        if (offset < 0 || offset > memory.byteSize() - bytes) {
            return CompletionStatus.OUT_OF_BOUNDS;
        }
        if (request.operation().changesRemote() && memory.isReadOnly()) {
            return CompletionStatus.ACCESS_DENIED;
        }
        switch (request.operation()) {
            case WRITE -> {
                if (!copy(request.local().segment(), request.localOffset(), memory, offset, bytes)) {
                    return CompletionStatus.LOCAL_MEMORY_FAULT;
                }
            }
            case READ -> {
                if (!copy(memory, offset, request.local().segment(), request.localOffset(), bytes)) {
                    return CompletionStatus.LOCAL_MEMORY_FAULT;
                }
            }
            case PUT -> {
                for (int i = 0; i < request.length(); i++) {
                    memory.set(BYTE, offset + i, (byte) (request.operand() >>> (Byte.SIZE * i)));
                }
            }
            case SIGNAL, FETCH_ADD, COMPARE_AND_SWAP -> {
                CompletionStatus refused = refusedWord(key, memory, offset);
                if (refused != null) {
                    return refused;
                }
                request.fetched(
                        request.operation() == WorkRequest.Opcode.COMPARE_AND_SWAP
                                ? (long) WORD.compareAndExchange(memory, offset, request.expected(), request.operand())
                                : (long) WORD.getAndAdd(memory, offset, request.operand()));
            }
        }
        return CompletionStatus.SUCCESS;
    }

    private static CompletionStatus signal(WorkRequest request) {
        ShmRemoteKey key = (ShmRemoteKey) request.signal();
        MemorySegment memory = key.memory();
        long offset = request.signalOffset();
        if (memory == null) {
            return CompletionStatus.UNKNOWN_REGION;
        }
        if (offset < 0 || offset > memory.byteSize() - WorkRequest.WORD_BYTES) {
            return CompletionStatus.OUT_OF_BOUNDS;
        }
        if (memory.isReadOnly()) {
            return CompletionStatus.ACCESS_DENIED;
        }
        CompletionStatus refused = refusedWord(key, memory, offset);
        if (refused != null) {
            return refused;
        }
        // the release makes the bytes visible first
        WORD.getAndAdd(memory, offset, request.signalAddend());
        return CompletionStatus.SUCCESS;
    }

    private static @Nullable CompletionStatus refusedWord(ShmRemoteKey key, MemorySegment memory, long offset) {
        if ((memory.address() + offset) % Long.BYTES != 0) {
            return CompletionStatus.MISALIGNED;
        }
        return key.keys().processorAtomics() ? null : CompletionStatus.ATOMIC_DOMAIN;
    }
}
