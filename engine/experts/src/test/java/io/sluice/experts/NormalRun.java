package io.sluice.experts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.sluice.engine.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Calls layout, dispatch and combine of normal mode on all ranks, and compares all that they give with the reference. */
final class NormalRun {
    private static final int GROUP = 128;
    private static final int GROUPS_OF_WORD = 4;
    private static final int ALIGNMENT = 4;

    private final CrossRanks ranks;
    private final Object name;
    private final Workload work;
    private final Reference reference;
    private final ExpertCross.Encoding encoding;
    private final ExpertCross.Variant variant;
    private final int capacity;
    private final short[][] biases;
    private final List<CrossMemory> memory = new ArrayList<>();
    private final @Nullable NormalLayout[] layouts;

    NormalRun(
            CrossRanks ranks, Object name, Workload work, ExpertCross.Encoding encoding, ExpertCross.Variant variant) {
        this.ranks = ranks;
        this.name = name;
        this.work = work;
        this.reference = new Reference(work);
        this.encoding = encoding;
        this.variant = variant;
        this.capacity = work.ranks() * work.maxTokens();
        this.biases = new short[work.ranks()][];
        this.layouts = new NormalLayout[work.ranks()];
        for (int rank = 0; rank < work.ranks(); rank++) {
            biases[rank] = bias(rank);
            memory.add(new CrossMemory(ranks, work, rank, capacity, biases[rank]));
        }
    }

    private short[] bias(int rank) {
        short[] bias = new short[work.tokens()[rank] * work.hidden()];
        work.output(rank, -1, -1, bias);
        return bias;
    }

    /** Dispatches, checks, combines and checks; with a handle twice. */
    void round() {
        List<NormalResult> results = dispatch();
        List<NormalHandle> handles = results.stream().map(NormalResult::handle).toList();
        combine(results);
        if (variant == ExpertCross.Variant.HOOK_OR_CACHED) {
            combine(dispatchAgain(handles));
        }
        handles.forEach(NormalHandle::close);
    }

    private NormalOptions options() {
        NormalOptions options = NormalOptions.defaults().withFormat(LowLatencyRun.format(encoding));
        return switch (variant) {
            case ZERO_COPY_OR_WORST -> options.withWorstTokens(capacity);
            case LOG_FORMAT_OR_BIAS -> options.withExpertAlignment(ALIGNMENT);
            case PLAIN, HOOK_OR_CACHED -> options;
        };
    }

    List<NormalResult> dispatch() {
        for (int rank = 0; rank < work.ranks(); rank++) {
            CrossMemory own = memory.get(rank);
            layouts[rank] =
                    ranks.buffer(rank).layout(own.choices, CrossMemory.GUARD, work.tokens()[rank], layouts[rank]);
            checkLayout(layouts[rank], rank);
        }
        List<NormalResult> results = ranks.call(
                name + ": dispatch",
                (rank, buffer, callback) -> buffer.dispatch(
                        memory.get(rank).x,
                        CrossMemory.GUARD,
                        memory.get(rank).choices,
                        CrossMemory.GUARD,
                        memory.get(rank).weights,
                        CrossMemory.GUARD,
                        layouts[rank],
                        options(),
                        callback));
        for (int rank = 0; rank < work.ranks(); rank++) {
            check(results.get(rank), rank, false);
        }
        return results;
    }

    private List<NormalResult> dispatchAgain(List<NormalHandle> handles) {
        List<NormalResult> results = ranks.call(
                name + ": dispatch with a handle",
                (rank, buffer, callback) -> buffer.dispatchAgain(
                        memory.get(rank).x, CrossMemory.GUARD, handles.get(rank), options(), callback));
        for (int rank = 0; rank < work.ranks(); rank++) {
            check(results.get(rank), rank, true);
        }
        return results;
    }

    private void checkLayout(NormalLayout layout, int rank) {
        assertThat(layout.tokens()).isEqualTo(work.tokens()[rank]);
        for (int target = 0; target < work.ranks(); target++) {
            assertThat(layout.tokensToRank(target))
                    .as("%s: tokens from rank %s to rank %s", name, rank, target)
                    .isEqualTo(reference.tokensTo(rank, target).length);
            for (int token = 0; token < work.tokens()[rank]; token++) {
                if (layout.isTokenInRank(token, target) != work.goesTo(rank, token, target)) {
                    fail("%s: token %d of rank %d and rank %d", name, token, rank, target);
                }
            }
        }
        for (int expert = 0; expert < work.experts(); expert++) {
            assertThat(layout.tokensToExpert(expert))
                    .as("%s: tokens from rank %s to expert %s", name, rank, expert)
                    .isEqualTo(reference.tokensOf(rank, expert).length);
        }
    }

    private void check(NormalResult result, int rank, boolean again) {
        String what = name + (again ? " again" : "") + ": rank " + rank;
        int row = 0;
        for (int source = 0; source < work.ranks(); source++) {
            int[] expected = reference.tokensTo(source, rank);
            assertThat(result.rowsFrom(source))
                    .as("rows from rank %s, %s", source, what)
                    .isEqualTo(expected.length);
            assertThat(result.firstRow(source))
                    .as("first row from rank %s, %s", source, what)
                    .isEqualTo(row);
            for (int token : expected) {
                checkRow(result, row++, source, token, rank, again, what);
            }
        }
        assertThat(result.received()).as("rows received, %s", what).isEqualTo(row);
        boolean worst = variant == ExpertCross.Variant.ZERO_COPY_OR_WORST;
        assertThat(result.rows()).as("rows, %s", what).isEqualTo(worst ? capacity : row);
        for (int i = row; i < result.rows() && !again; i++) {
            assertThat(result.sources().getAtIndex(ValueLayout.JAVA_INT, i))
                    .as("source of row %s, %s", i, what)
                    .isEqualTo(-1);
            for (int k = 0; k < work.topK(); k++) {
                assertThat(result.choices().orElseThrow().getAtIndex(ValueLayout.JAVA_LONG, (long) i * work.topK() + k))
                        .as("choice %s of row %s, %s", k, i, what)
                        .isEqualTo(-1);
            }
        }
        int alignment = variant == ExpertCross.Variant.LOG_FORMAT_OR_BIAS ? ALIGNMENT : 1;
        for (int local = 0; local < work.expertsPerRank(); local++) {
            int exact = reference.tokensOf(rank * work.expertsPerRank() + local);
            assertThat(result.count(local))
                    .as("count of local expert %s, %s", local, what)
                    .isEqualTo((exact + alignment - 1) / alignment * alignment);
        }
    }

    private void checkRow(NormalResult result, int row, int source, int token, int rank, boolean again, String what) {
        assertThat(result.sources().getAtIndex(ValueLayout.JAVA_INT, row))
                .as("token of row %s from rank %s, %s", row, source, what)
                .isEqualTo(token);
        assertThat(result.choices().isPresent()).as("choices, %s", what).isNotEqualTo(again);
        for (int k = 0; k < work.topK() && !again; k++) {
            long element = (long) row * work.topK() + k;
            assertThat(result.choices().orElseThrow().getAtIndex(ValueLayout.JAVA_LONG, element))
                    .as("choice %s of row %s, %s", k, row, what)
                    .isEqualTo(reference.localChoice(source, token, k, rank));
            assertThat(result.weights().orElseThrow().getAtIndex(ValueLayout.JAVA_INT, element))
                    .as("weight %s of row %s, %s", k, row, what)
                    .isEqualTo(Float.floatToRawIntBits(reference.localWeight(source, token, k, rank)));
        }
        if (encoding == ExpertCross.Encoding.BFLOAT16) {
            short[] found =
                    CrossMemory.shorts(result.tokens(), (long) row * work.hidden() * Short.BYTES, work.hidden());
            if (!Arrays.equals(found, reference.row(source, token))) {
                fail("%s: row %d is not token %d of rank %d", what, row, token, source);
            }
            return;
        }
        Reference.Encoded expected = reference.encoded(source, token, encoding.scales());
        if (!Arrays.equals(
                CrossMemory.bytes(result.tokens(), (long) row * work.hidden(), work.hidden()), expected.codes())) {
            fail("%s: row %d does not have the codes of token %d of rank %d", what, row, token, source);
        }
        checkScales(result, row, expected.inverseScales(), what);
    }

    private void checkScales(NormalResult result, int row, float[] expected, String what) {
        MemorySegment scales = result.scales().orElseThrow();
        boolean packed = encoding == ExpertCross.Encoding.FP8_PACKED_EXPONENTS;
        int columns = packed ? expected.length / GROUPS_OF_WORD : expected.length;
        assertThat(expected).hasSize(work.hidden() / GROUP);
        for (int group = 0; group < expected.length; group++) {
            int column = packed ? group / GROUPS_OF_WORD : group;
            int found = scales.getAtIndex(ValueLayout.JAVA_INT, (long) row * columns + column);
            int bits = packed ? found >>> (Byte.SIZE * (group % GROUPS_OF_WORD)) & 0xFF : found;
            assertThat(bits)
                    .as("scale %s of row %s, %s", group, row, what)
                    .isEqualTo(packed ? Numbers.exponent(expected[group]) : Float.floatToRawIntBits(expected[group]));
        }
    }

    /** Poisons what the results are in before the combine, for which their handles suffice. */
    void combine(List<NormalResult> results) {
        boolean biased = variant == ExpertCross.Variant.LOG_FORMAT_OR_BIAS;
        List<NormalHandle> handles = new ArrayList<>();
        for (int rank = 0; rank < work.ranks(); rank++) {
            NormalResult result = results.get(rank);
            memory.get(rank).poisonOut();
            writeOutputs(result, rank);
            handles.add(result.handle());
            poison(result);
            result.close();
        }
        ranks.<MemoryRegion>call(
                name + ": combine",
                (rank, buffer, callback) -> buffer.combine(
                        handles.get(rank),
                        memory.get(rank).y,
                        CrossMemory.GUARD,
                        biased ? memory.get(rank).bias : null,
                        CrossMemory.GUARD,
                        memory.get(rank).out,
                        CrossMemory.GUARD,
                        null,
                        callback));
        for (int rank = 0; rank < work.ranks(); rank++) {
            checkSums(rank, biased);
            memory.get(rank).checkAround(name);
        }
    }

    private void writeOutputs(NormalResult result, int rank) {
        short[] output = new short[work.hidden()];
        for (int source = 0; source < work.ranks(); source++) {
            for (int i = 0; i < result.rowsFrom(source); i++) {
                int row = result.firstRow(source) + i;
                work.output(source, result.sources().getAtIndex(ValueLayout.JAVA_INT, row), rank, output);
                CrossMemory.put(
                        memory.get(rank).y.segment(),
                        CrossMemory.GUARD + (long) row * work.hidden() * Short.BYTES,
                        output);
            }
        }
    }

    private void checkSums(int rank, boolean biased) {
        for (int token = 0; token < work.tokens()[rank]; token++) {
            short[] bias = biased
                    ? Arrays.copyOfRange(biases[rank], token * work.hidden(), (token + 1) * work.hidden())
                    : new short[0];
            short[] expected = reference.unweighted(rank, token, bias);
            short[] found = memory.get(rank).sums(token);
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
        }
    }

    private static void poison(NormalResult result) {
        result.tokens().fill(CrossMemory.POISON);
        result.scales().ifPresent(scales -> scales.fill(CrossMemory.POISON));
        result.choices().ifPresent(choices -> choices.fill(CrossMemory.POISON));
        result.weights().ifPresent(weights -> weights.fill(CrossMemory.POISON));
        result.sources().fill(CrossMemory.POISON);
    }
}
