package io.sluice.experts;

import static org.assertj.core.api.Assertions.fail;

import io.sluice.engine.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The regions that a rank passes to the calls of a cross, with guards around their elements. */
final class CrossMemory {
    static final byte POISON = 0x5A;
    private static final long POISONED = 0x5A5A_5A5A_5A5A_5A5AL;
    static final int GUARD = 128;

    final MemoryRegion x;
    final MemoryRegion choices;
    final MemoryRegion weights;
    final MemoryRegion bias;
    final MemoryRegion y;
    final MemoryRegion out;
    private final Workload work;
    private final int rank;

    CrossMemory(CrossRanks ranks, Workload work, int rank, long outputs, short[] biases) {
        this.work = work;
        this.rank = rank;
        long elements = (long) work.tokens()[rank] * work.hidden();
        long slots = (long) work.tokens()[rank] * work.topK();
        x = ranks.region(rank, GUARD + elements * Short.BYTES + GUARD);
        choices = ranks.region(rank, GUARD + slots * Long.BYTES + GUARD);
        weights = ranks.region(rank, GUARD + slots * Float.BYTES + GUARD);
        bias = ranks.region(rank, GUARD + elements * Short.BYTES + GUARD);
        y = ranks.region(rank, GUARD + outputs * work.hidden() * Short.BYTES + GUARD);
        out = ranks.region(rank, GUARD + elements * Short.BYTES + GUARD);
        for (MemoryRegion region : new MemoryRegion[] {x, choices, weights, bias, y, out}) {
            region.segment().fill(POISON);
        }
        put(x, work.elements()[rank]);
        put(bias, biases);
        long[] all = work.choices()[rank];
        MemorySegment.copy(all, 0, choices.segment(), ValueLayout.JAVA_LONG, GUARD, all.length);
        float[] factors = work.weights()[rank];
        MemorySegment.copy(factors, 0, weights.segment(), ValueLayout.JAVA_FLOAT, GUARD, factors.length);
    }

    private static void put(MemoryRegion region, short[] elements) {
        MemorySegment.copy(elements, 0, region.segment(), ValueLayout.JAVA_SHORT, GUARD, elements.length);
    }

    /** Writes a row of outputs. */
    static void put(MemorySegment to, long offset, short[] elements) {
        MemorySegment.copy(elements, 0, to, ValueLayout.JAVA_SHORT, offset, elements.length);
    }

    static short[] shorts(MemorySegment from, long offset, int count) {
        short[] elements = new short[count];
        MemorySegment.copy(from, ValueLayout.JAVA_SHORT, offset, elements, 0, count);
        return elements;
    }

    static byte[] bytes(MemorySegment from, long offset, int count) {
        byte[] elements = new byte[count];
        MemorySegment.copy(from, ValueLayout.JAVA_BYTE, offset, elements, 0, count);
        return elements;
    }

    /** The sums of a token. */
    short[] sums(int token) {
        return shorts(out.segment(), GUARD + (long) token * work.hidden() * Short.BYTES, work.hidden());
    }

    void poisonOut() {
        out.segment().fill(POISON);
    }

    /** Inputs are as they were, and nothing around them or the sums is written. */
    void checkAround(Object cross) {
        checkSame(cross, "x", x, MemorySegment.ofArray(work.elements()[rank]));
        checkSame(cross, "choices", choices, MemorySegment.ofArray(work.choices()[rank]));
        checkSame(cross, "weights", weights, MemorySegment.ofArray(work.weights()[rank]));
        checkGuards(cross, "the sums", out);
        checkGuards(cross, "the outputs", y);
    }

    private void checkSame(Object cross, String what, MemoryRegion found, MemorySegment expected) {
        long first = found.segment().asSlice(GUARD, expected.byteSize()).mismatch(expected);
        if (first >= 0) {
            fail("%s: %s of rank %d were changed from byte %d on", cross, what, rank, first);
        }
        checkGuards(cross, what, found);
    }

    private void checkGuards(Object cross, String what, MemoryRegion region) {
        MemorySegment memory = region.segment();
        long end = memory.byteSize();
        for (long at = 0; at < GUARD; at++) {
            if (memory.get(ValueLayout.JAVA_BYTE, at) != POISON
                    || memory.get(ValueLayout.JAVA_BYTE, end - 1 - at) != POISON) {
                fail("%s: bytes around %s of rank %d were written", cross, what, rank);
            }
        }
    }

    /** A row that belongs to no token is as it was at first, or as it was poisoned. */
    static boolean isUntouched(MemorySegment memory, long offset) {
        long found = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
        return found == 0 || found == POISONED;
    }
}
