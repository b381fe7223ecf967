package io.sluice.samples.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** That checks of rows and sums, which calls on the host and on GPUs share, take the right ones for right, and no others. */
class ExpertRowsTest {
    private static final int RANKS = 2;
    private static final int RANK = 1;
    private static final int TOKENS = 5;
    private static final int HIDDEN = 256;
    private static final int LOCAL = 2;
    private static final int MOST = RANKS * TOKENS;
    private static final long BLOCK = 7;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment tokens = arena.allocate((long) LOCAL * MOST * HIDDEN * Short.BYTES, Long.BYTES);
    private final MemorySegment scales = arena.allocate((long) LOCAL * MOST * HIDDEN / 128 * Float.BYTES, Long.BYTES);
    private final MemorySegment sources = arena.allocate((long) LOCAL * MOST * Integer.BYTES, Long.BYTES);
    private final MemorySegment ranges = arena.allocate((long) LOCAL * RANKS * Long.BYTES, Long.BYTES);
    private final MemorySegment choices = arena.allocate((long) MOST * Long.BYTES, Long.BYTES);
    private final MemorySegment weights = arena.allocate((long) MOST * Float.BYTES, Long.BYTES);

    @AfterEach
    void close() {
        arena.close();
    }

    private static ExpertPlan plan(ExpertMode mode, boolean fp8) {
        return new ExpertPlan(
                mode, RANKS, TOKENS, HIDDEN, 1, RANKS * LOCAL, fp8, null, null, true, Duration.ZERO, Duration.ZERO, 1);
    }

    /** Writes a token into a row, with scales at a place and a distance. */
    private void put(ExpertContent.Vector vector, boolean fp8, long row, long scale, long stride) {
        if (!fp8) {
            vector.put(tokens, row * HIDDEN * Short.BYTES);
            return;
        }
        MemorySegment plain = arena.allocate((long) HIDDEN * Short.BYTES, Long.BYTES);
        vector.put(plain, 0);
        float[] channels = new float[HIDDEN];
        for (int i = 0; i < HIDDEN; i++) {
            channels[i] = Float.intBitsToFloat(plain.getAtIndex(ValueLayout.JAVA_SHORT, i) << Short.SIZE);
        }
        byte[] codes = new byte[128];
        for (int group = 0; group < HIDDEN / 128; group++) {
            Float8.quantise(channels, group * 128, codes);
            MemorySegment.copy(codes, 0, tokens, ValueLayout.JAVA_BYTE, row * HIDDEN + group * 128, 128);
            scales.setAtIndex(
                    ValueLayout.JAVA_FLOAT, scale + group * stride, Float8.inverseScale(channels, group * 128));
        }
    }

    private static void flip(MemorySegment memory, long at) {
        memory.set(ValueLayout.JAVA_BYTE, at, (byte) (memory.get(ValueLayout.JAVA_BYTE, at) ^ 1));
    }

    private static void assertOneIsWrong(ExpertRows rows, MemorySegment memory, long at) {
        flip(memory, at);
        assertThat(rows.wrong(BLOCK)).isPositive();
        flip(memory, at);
        assertThat(rows.wrong(BLOCK)).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aWrongLowLatencyRowIsFound(boolean fp8) {
        ExpertPlan plan = plan(ExpertMode.LOW_LATENCY, fp8);
        try (ExpertContent content = new ExpertContent(plan)) {
            long first = -1;
            for (int local = 0; local < LOCAL; local++) {
                int next = 0;
                for (int source = 0; source < RANKS; source++) {
                    int begin = next;
                    for (int token = 0; token < TOKENS; token++) {
                        if (content.choice(source, token, 0) == RANK * LOCAL + local) {
                            long row = (long) local * MOST + next;
                            sources.setAtIndex(ValueLayout.JAVA_INT, row, token);
                            put(
                                    content.token(BLOCK, source, token),
                                    fp8,
                                    row,
                                    (long) local * (HIDDEN / 128) * MOST + next,
                                    MOST);
                            first = first < 0 ? row : first;
                            next++;
                        }
                    }
                    long count = next - begin;
                    ranges.setAtIndex(
                            ValueLayout.JAVA_LONG, (long) local * RANKS + source, (long) begin << Integer.SIZE | count);
                }
            }
            ExpertRows rows = new LowLatencyRows(plan, content, RANK, tokens, fp8 ? scales : null, sources, ranges);
            assertThat(rows.wrong(BLOCK)).isZero();
            assertThat(rows.wrong(BLOCK + 1)).as("those of another block").isPositive();
            assertOneIsWrong(rows, tokens, first * HIDDEN * (fp8 ? 1 : Short.BYTES));
            assertOneIsWrong(rows, sources, first * Integer.BYTES);
            assertOneIsWrong(rows, ranges, 0);
            if (fp8) {
                long expert = first / MOST;
                assertOneIsWrong(rows, scales, (expert * (HIDDEN / 128) * MOST + first % MOST) * Float.BYTES);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aWrongRowOfNormalModeIsFound(boolean fp8) {
        ExpertPlan plan = plan(ExpertMode.NORMAL, fp8);
        try (ExpertContent content = new ExpertContent(plan)) {
            int row = 0;
            for (int source = 0; source < RANKS; source++) {
                for (int token = 0; token < TOKENS; token++) {
                    int local = content.choice(source, token, 0) - RANK * LOCAL;
                    if (local >= 0) {
                        sources.setAtIndex(ValueLayout.JAVA_INT, row, token);
                        choices.setAtIndex(ValueLayout.JAVA_LONG, row, local);
                        weights.setAtIndex(ValueLayout.JAVA_FLOAT, row, content.weight(source, token, 0));
                        put(content.token(BLOCK, source, token), fp8, row, (long) row * (HIDDEN / 128), 1);
                        row++;
                    }
                }
            }
            MemorySegment used = fp8 ? scales : null;
            ExpertRows rows = new NormalRows(plan, content, RANK, row, tokens, used, choices, weights, sources);
            assertThat(rows.wrong(BLOCK)).isZero();
            assertThat(rows.wrong(BLOCK + 1)).as("those of another block").isEqualTo(row);
            for (MemorySegment memory : new MemorySegment[] {tokens, sources, choices, weights}) {
                assertOneIsWrong(rows, memory, 0);
            }
            if (fp8) {
                assertOneIsWrong(rows, scales, 0);
            }
            for (int received : new int[] {row - 1, row + 1}) {
                assertThat(new NormalRows(plan, content, RANK, received, tokens, used, choices, weights, sources)
                                .wrong(BLOCK))
                        .as("%d rows", received)
                        .isOne();
            }
        }
    }

    @Test
    void aWrongSumIsFound() {
        ExpertPlan plan = plan(ExpertMode.NORMAL, false);
        try (TransferEngine engine =
                        TransferEngine.open(EngineOptions.builder().noListener().build());
                ExpertContent content = new ExpertContent(plan);
                ExpertMemory memory = new ExpertMemory(engine, plan, content, RANK, true)) {
            memory.fill(BLOCK);
            assertThat(memory.wrongSums(BLOCK)).isEqualTo(TOKENS);
            MemorySegment sums = memory.sums().segment();
            for (int token = 0; token < TOKENS; token++) {
                // of one rank
                int rank = content.choice(RANK, token, 0) / LOCAL;
                content.answer(BLOCK, RANK, token, rank).put(sums, token * plan.rowBytes());
            }
            assertThat(memory.wrongSums(BLOCK)).isZero();
            assertThat(memory.wrongSums(BLOCK + 1)).isEqualTo(TOKENS);
            flip(sums, 3 * plan.rowBytes());
            assertThat(memory.wrongSums(BLOCK)).isOne();
        }
    }
}
