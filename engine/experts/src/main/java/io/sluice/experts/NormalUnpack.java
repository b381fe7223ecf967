package io.sluice.experts;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Makes of the notes that have arrived with rows what a result has, and closes gaps between rows. The loop's alone. */
final class NormalUnpack {
    private static final int EXPONENT = 23;
    private static final int GROUPS = 4;

    private final NormalMemory at;
    private final MemorySegment segment;
    private final int firstExpert;
    private @Nullable NormalDispatchCall call;

    NormalUnpack(NormalLinks links) {
        this.at = links.at;
        this.segment = links.segment;
        this.firstExpert = links.rank * at.localExperts;
    }

    void begin(NormalDispatchCall begun) {
        call = begun;
        if (!begun.again) {
            Arrays.fill(begun.handle().expertCounts(), 0);
        }
    }

    private NormalDispatchCall call() {
        return Objects.requireNonNull(call);
    }

    /** How many rows are done within a budget of bytes, at least 1 if there is one. */
    int rowsWithin(int budget, int rows, boolean moved) {
        return (int) Math.min(rows, Math.max(1, budget / bytes(moved)));
    }

    private long bytes(boolean moved) {
        DispatchFormat format = call().format;
        return at.noteBytes(format) + (moved ? at.rowBytes(format) : 0);
    }

    /**
     * Finishes rows that have arrived.
     *
     * @param from where they have arrived
     * @param to where they belong, not after that
     * @return how many bytes were moved
     */
    int rows(int slot, int from, int to, int count) {
        NormalDispatchCall current = call();
        boolean moved = from != to;
        if (moved) {
            DispatchFormat format = current.format;
            // towards lower addresses, slice after slice, so overlapping rows are read before they are written
            MemorySegment.copy(
                    segment,
                    at.rowAt(slot, from, format),
                    segment,
                    at.rowAt(slot, to, format),
                    count * at.rowBytes(format));
        }
        for (int i = 0; i < count; i++) {
            note(current, slot, at.noteAt(slot, from + i), to + i);
        }
        return (int) (count * bytes(moved));
    }

    private void note(NormalDispatchCall current, int slot, long note, int row) {
        segment.set(
                ValueLayout.JAVA_INT,
                at.sourcesAt(slot) + (long) row * Integer.BYTES,
                segment.get(ValueLayout.JAVA_INT, note));
        if (!current.again) {
            int[] counts = current.handle().expertCounts();
            long element = (long) row * at.topK;
            for (int k = 0; k < at.topK; k++) {
                int local = segment.get(ValueLayout.JAVA_INT, note + at.noteChoice(k)) - firstExpert;
                boolean here = local >= 0 && local < at.localExperts;
                if (here) {
                    counts[local]++;
                }
                segment.set(ValueLayout.JAVA_LONG, at.choicesAt(slot) + (element + k) * Long.BYTES, here ? local : -1);
                segment.set(
                        ValueLayout.JAVA_INT,
                        at.weightsAt(slot) + (element + k) * Float.BYTES,
                        here ? segment.get(ValueLayout.JAVA_INT, note + at.noteWeight(k)) : 0);
            }
        }
        if (current.format == DispatchFormat.FP8_UE8M0) {
            packScales(slot, note + at.noteScales(), row);
        } else if (current.format.isQuantised()) {
            MemorySegment.copy(
                    segment,
                    note + at.noteScales(),
                    segment,
                    at.scalesAt(slot) + (long) row * at.scalesBytes(),
                    at.scalesBytes());
        }
    }

    private void packScales(int slot, long scales, int row) {
        long to = at.scalesAt(slot) + (long) row * at.packedScalesBytes();
        int groups = at.scalesBytes() / Float.BYTES;
        for (int group = 0; group < groups; group += GROUPS) {
            int packed = 0;
            for (int i = 0; i < GROUPS; i++) {
                int bits = segment.get(ValueLayout.JAVA_INT, scales + (long) (group + i) * Float.BYTES);
                packed |= (bits >>> EXPONENT) << (Byte.SIZE * i);
            }
            segment.set(ValueLayout.JAVA_INT, to, packed);
            to += Integer.BYTES;
        }
    }

    /** Marks rows that nothing has arrived for, and returns how many rows the result has. */
    int finish(int slot) {
        NormalDispatchCall current = call();
        int received = current.handle().received();
        int rows = Math.max(received, current.worst);
        long first = (long) received * at.topK;
        long count = (long) (rows - received) * at.topK;
        if (count > 0) {
            segment.asSlice(
                            at.sourcesAt(slot) + (long) received * Integer.BYTES,
                            (long) (rows - received) * Integer.BYTES)
                    .fill((byte) -1);
            segment.asSlice(at.choicesAt(slot) + first * Long.BYTES, count * Long.BYTES)
                    .fill((byte) -1);
            segment.asSlice(at.weightsAt(slot) + first * Float.BYTES, count * Float.BYTES)
                    .fill((byte) 0);
        }
        call = null;
        return rows;
    }
}
