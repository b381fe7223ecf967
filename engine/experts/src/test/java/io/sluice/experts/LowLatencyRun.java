package io.sluice.experts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.sluice.engine.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Calls dispatch and combine of low latency on all ranks, and compares all that they give with the reference. */
final class LowLatencyRun {
    private static final int GROUP = 128;
    private static final int GROUPS_OF_WORD = 4;
    // half of the longest step of LogFMT, and a little more
    private static final double LOG_FORMAT = 0.03;

    private final CrossRanks ranks;
    private final Object name;
    private final Workload work;
    private final Reference reference;
    private final ExpertCross.Encoding encoding;
    private final ExpertCross.Variant variant;
    private final List<CrossMemory> memory = new ArrayList<>();
    private final int rowsOfExpert;

    LowLatencyRun(
            CrossRanks ranks, Object name, Workload work, ExpertCross.Encoding encoding, ExpertCross.Variant variant) {
        this.ranks = ranks;
        this.name = name;
        this.work = work;
        this.reference = new Reference(work);
        this.encoding = encoding;
        this.variant = variant;
        this.rowsOfExpert = work.ranks() * work.maxTokens();
        for (int rank = 0; rank < work.ranks(); rank++) {
            memory.add(new CrossMemory(ranks, work, rank, (long) work.expertsPerRank() * rowsOfExpert, new short[0]));
        }
    }

    static DispatchFormat format(ExpertCross.Encoding encoding) {
        return switch (encoding) {
            case BFLOAT16 -> DispatchFormat.BF16;
            case FP8 -> DispatchFormat.FP8;
            case FP8_POWERS_OF_TWO -> DispatchFormat.FP8_ROUNDED;
            case FP8_PACKED_EXPONENTS -> DispatchFormat.FP8_UE8M0;
        };
    }

    /** Dispatches, checks, combines and checks. */
    void round() {
        combine(dispatch());
    }

    List<LowLatencyResult> dispatch() {
        DispatchOptions options = DispatchOptions.defaults().withFormat(format(encoding));
        List<LowLatencyResult> results;
        if (variant == ExpertCross.Variant.HOOK_OR_CACHED) {
            List<ReceiveHook<LowLatencyResult>> hooks = ranks.call(
                    name + ": first half of dispatch",
                    (rank, buffer, callback) -> buffer.lowLatencyDispatchHooked(
                            memory.get(rank).x,
                            CrossMemory.GUARD,
                            memory.get(rank).choices,
                            CrossMemory.GUARD,
                            work.tokens()[rank],
                            options,
                            callback));
            results = ranks.call(
                    name + ": second half of dispatch",
                    (rank, buffer, callback) -> hooks.get(rank).complete(callback));
        } else {
            results = ranks.call(
                    name + ": dispatch",
                    (rank, buffer, callback) -> buffer.lowLatencyDispatch(
                            memory.get(rank).x,
                            CrossMemory.GUARD,
                            memory.get(rank).choices,
                            CrossMemory.GUARD,
                            work.tokens()[rank],
                            options,
                            callback));
        }
        for (int rank = 0; rank < work.ranks(); rank++) {
            for (int local = 0; local < work.expertsPerRank(); local++) {
                check(results.get(rank), rank, local);
            }
        }
        return results;
    }

    /** Checks the rows that have arrived for an expert. */
    private void check(LowLatencyResult result, int rank, int local) {
        int expert = rank * work.expertsPerRank() + local;
        String what = name + ": expert " + expert + " of rank " + rank;
        int total = reference.tokensOf(expert);
        assertThat(result.count(local)).as("count, %s", what).isEqualTo(total);
        assertThat(result.counts().segment().getAtIndex(ValueLayout.JAVA_INT, local))
                .as("stored count, %s", what)
                .isEqualTo(total);
        boolean[] used = new boolean[total];
        for (int source = 0; source < work.ranks(); source++) {
            int[] expected = reference.tokensOf(source, expert);
            long range =
                    result.ranges().segment().getAtIndex(ValueLayout.JAVA_LONG, (long) local * work.ranks() + source);
            int begin = (int) (range >>> 32);
            int count = (int) range;
            assertThat(count).as("rows from rank %s, %s", source, what).isEqualTo(expected.length);
            int[] found = new int[count];
            for (int i = 0; i < count; i++) {
                int row = begin + i;
                if (row >= total || used[row]) {
                    fail("%s: row %d from rank %d is beyond the others, or theirs", what, row, source);
                }
                used[row] = true;
                found[i] = token(result, local, row);
                checkRow(result, local, row, source, found[i], what);
            }
            Arrays.sort(found);
            assertThat(found).as("tokens from rank %s, %s", source, what).isEqualTo(expected);
        }
        MemorySegment rows = result.tokens().segment();
        for (int row = total; row < rowsOfExpert; row++) {
            if (!CrossMemory.isUntouched(rows, at(local, row) * bytesOfElement() * work.hidden())) {
                fail("%s: row %d was written, and there are %d", what, row, total);
            }
        }
    }

    private int bytesOfElement() {
        return encoding == ExpertCross.Encoding.BFLOAT16 ? Short.BYTES : Byte.BYTES;
    }

    private long at(int local, int row) {
        return (long) local * rowsOfExpert + row;
    }

    private int token(LowLatencyResult result, int local, int row) {
        return result.sources().segment().getAtIndex(ValueLayout.JAVA_INT, at(local, row));
    }

    private void checkRow(LowLatencyResult result, int local, int row, int source, int token, String what) {
        assertThat(token)
                .as("token of row %s from rank %s, %s", row, source, what)
                .isBetween(0, work.tokens()[source] - 1);
        long offset = at(local, row) * bytesOfElement() * work.hidden();
        MemorySegment rows = result.tokens().segment();
        if (encoding == ExpertCross.Encoding.BFLOAT16) {
            if (!Arrays.equals(CrossMemory.shorts(rows, offset, work.hidden()), reference.row(source, token))) {
                fail("%s: row %d is not token %d of rank %d", what, row, token, source);
            }
            return;
        }
        Reference.Encoded expected = reference.encoded(source, token, encoding.scales());
        if (!Arrays.equals(CrossMemory.bytes(rows, offset, work.hidden()), expected.codes())) {
            fail("%s: row %d does not have the codes of token %d of rank %d", what, row, token, source);
        }
        MemorySegment scales = result.scales().orElseThrow().segment();
        boolean packed = encoding == ExpertCross.Encoding.FP8_PACKED_EXPONENTS;
        int groups = work.hidden() / GROUP;
        int columns = packed ? groups / GROUPS_OF_WORD : groups;
        for (int group = 0; group < groups; group++) {
            int column = packed ? group / GROUPS_OF_WORD : group;
            int found = scales.getAtIndex(ValueLayout.JAVA_INT, ((long) local * columns + column) * rowsOfExpert + row);
            float scale = expected.inverseScales()[group];
            int bits = packed ? found >>> (Byte.SIZE * (group % GROUPS_OF_WORD)) & 0xFF : found;
            assertThat(bits)
                    .as("scale %s of row %s, token %s of rank %s, %s", group, row, token, source, what)
                    .isEqualTo(packed ? Numbers.exponent(scale) : Float.floatToRawIntBits(scale));
        }
    }

    /** Poisons what the results are in, when they have been combined, and closes them. */
    void combine(List<LowLatencyResult> results) {
        boolean zeroCopy = variant == ExpertCross.Variant.ZERO_COPY_OR_WORST;
        CombineOptions options = variant == ExpertCross.Variant.LOG_FORMAT_OR_BIAS
                ? CombineOptions.defaults().withFormat(CombineFormat.LOGFMT)
                : CombineOptions.defaults();
        List<MemoryRegion> outputs = new ArrayList<>();
        for (int rank = 0; rank < work.ranks(); rank++) {
            CrossMemory own = memory.get(rank);
            own.poisonOut();
            outputs.add(zeroCopy ? results.get(rank).combineBuffer() : own.y);
            writeOutputs(results.get(rank), rank, outputs.get(rank).segment(), zeroCopy ? 0 : CrossMemory.GUARD);
        }
        long begin = zeroCopy ? 0 : CrossMemory.GUARD;
        if (variant == ExpertCross.Variant.HOOK_OR_CACHED) {
            List<ReceiveHook<MemoryRegion>> hooks = ranks.call(
                    name + ": first half of combine",
                    (rank, buffer, callback) -> buffer.lowLatencyCombineHooked(
                            results.get(rank),
                            outputs.get(rank),
                            begin,
                            memory.get(rank).choices,
                            CrossMemory.GUARD,
                            memory.get(rank).weights,
                            CrossMemory.GUARD,
                            memory.get(rank).out,
                            CrossMemory.GUARD,
                            options,
                            callback));
            ranks.<MemoryRegion>call(
                    name + ": second half of combine",
                    (rank, buffer, callback) -> hooks.get(rank).complete(callback));
        } else {
            ranks.<MemoryRegion>call(
                    name + ": combine",
                    (rank, buffer, callback) -> buffer.lowLatencyCombine(
                            results.get(rank),
                            outputs.get(rank),
                            begin,
                            memory.get(rank).choices,
                            CrossMemory.GUARD,
                            memory.get(rank).weights,
                            CrossMemory.GUARD,
                            memory.get(rank).out,
                            CrossMemory.GUARD,
                            options,
                            callback));
        }
        for (int rank = 0; rank < work.ranks(); rank++) {
            checkSums(rank);
            memory.get(rank).checkAround(name);
            poison(results.get(rank));
            results.get(rank).close();
        }
    }

    private void writeOutputs(LowLatencyResult result, int rank, MemorySegment to, long offset) {
        short[] output = new short[work.hidden()];
        for (int local = 0; local < work.expertsPerRank(); local++) {
            for (int source = 0; source < work.ranks(); source++) {
                long range = result.ranges()
                        .segment()
                        .getAtIndex(ValueLayout.JAVA_LONG, (long) local * work.ranks() + source);
                int begin = (int) (range >>> 32);
                for (int row = begin; row < begin + (int) range; row++) {
                    work.output(source, token(result, local, row), rank * work.expertsPerRank() + local, output);
                    CrossMemory.put(to, offset + at(local, row) * work.hidden() * Short.BYTES, output);
                }
            }
        }
    }

    private void checkSums(int rank) {
        for (int token = 0; token < work.tokens()[rank]; token++) {
            short[] found = memory.get(rank).sums(token);
            if (variant == ExpertCross.Variant.LOG_FORMAT_OR_BIAS) {
                checkNear(rank, token, found);
                continue;
            }
            short[] expected = reference.weighted(rank, token);
            int first = Arrays.mismatch(found, expected);
            if (first >= 0) {
                fail(
                        "%s: sum of token %d of rank %d: element %d is %s instead of %s",
                        name,
                        token,
                        rank,
                        first,
                        Numbers.ofBfloat16(found[first]),
                        Numbers.ofBfloat16(expected[first]));
            }
            int beyond = reference.firstBeyondRounding(rank, token, found);
            if (beyond >= 0) {
                fail(
                        "%s: sum of token %d of rank %d: element %d is further off than rounding explains",
                        name, token, rank, beyond);
            }
        }
    }

    private void checkNear(int rank, int token, short[] found) {
        double[] exact = new double[found.length];
        double[] absolute = new double[found.length];
        reference.sumUp(rank, token, exact, absolute);
        for (int i = 0; i < found.length; i++) {
            double value = Numbers.ofBfloat16(found[i]);
            if (!(Math.abs(value - exact[i]) <= LOG_FORMAT * absolute[i])) {
                fail(
                        "%s: sum of token %d of rank %d: element %d is %s and should be near %s",
                        name, token, rank, i, value, exact[i]);
            }
        }
    }

    private static void poison(LowLatencyResult result) {
        result.tokens().segment().fill(CrossMemory.POISON);
        result.scales().ifPresent(scales -> scales.segment().fill(CrossMemory.POISON));
        result.counts().segment().fill(CrossMemory.POISON);
        result.sources().segment().fill(CrossMemory.POISON);
        result.ranges().segment().fill(CrossMemory.POISON);
    }
}
