package io.sluice.comm.rounds;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** The form of what a rank has for another: pieces of puts, each with where it goes and perhaps a signal behind it. */
final class Records {
    private static final int HEAD = 40;
    private static final int MEMORY = 0;
    private static final int BYTES = 8;
    private static final int TARGET = 16;
    private static final int SIGNAL = 24;
    private static final int ADDEND = 32;
    private static final int ALIGNMENT = 8;
    // a smaller piece waits for the next round
    private static final int LEAST_PIECE = 64;

    private Records() {}

    private static long align(long bytes) {
        return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
    }

    /** Whether a piece of an operation fits. */
    static boolean fits(RoundOperation put, MemorySegment area, long at) {
        return area.byteSize() - at >= HEAD + Math.min(align(put.bytes - put.sent), LEAST_PIECE);
    }

    /** Writes as much of an operation as fits; returns where the next record begins. */
    static long write(RoundOperation put, MemorySegment area, long at) {
        long piece = Math.min(put.bytes - put.sent, area.byteSize() - at - HEAD);
        boolean isLast = put.sent + piece == put.bytes;
        area.set(ValueLayout.JAVA_INT, at + MEMORY, put.memory);
        area.set(ValueLayout.JAVA_LONG, at + BYTES, piece);
        area.set(ValueLayout.JAVA_LONG, at + TARGET, put.targetOffset + put.sent);
        area.set(ValueLayout.JAVA_LONG, at + SIGNAL, isLast ? put.signalOffset : RoundOperation.NO_SIGNAL);
        area.set(ValueLayout.JAVA_LONG, at + ADDEND, put.addend);
        HostMemory source = put.source;
        if (piece > 0 && source != null) {
            MemorySegment.copy(source.segment, put.sourceOffset + put.sent, area, at + HEAD, piece);
        }
        put.sent += piece;
        return at + HEAD + align(piece);
    }

    /**
     * Stores what has arrived.
     *
     * @param memories by number; what is for memory that is freed is dropped
     * @throws IndexOutOfBoundsException if a record leaves its memory
     */
    static void store(MemorySegment area, long bytes, IntFunction<@Nullable RoundMemory> memories) {
        long at = 0;
        while (at < bytes) {
            long piece = area.get(ValueLayout.JAVA_LONG, at + BYTES);
            long target = area.get(ValueLayout.JAVA_LONG, at + TARGET);
            long signal = area.get(ValueLayout.JAVA_LONG, at + SIGNAL);
            Objects.checkFromIndexSize(at + HEAD, piece, bytes);
            RoundMemory memory = memories.apply(area.get(ValueLayout.JAVA_INT, at + MEMORY));
            if (memory != null) {
                Objects.checkFromIndexSize(target, piece, memory.bytes());
                MemorySegment.copy(area, at + HEAD, memory.segment, target, piece);
                if (signal != RoundOperation.NO_SIGNAL) {
                    memory.add(signal, area.get(ValueLayout.JAVA_LONG, at + ADDEND));
                }
            }
            at += HEAD + align(piece);
        }
    }
}
