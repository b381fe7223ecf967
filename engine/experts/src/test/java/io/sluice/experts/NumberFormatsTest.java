package io.sluice.experts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.sluice.engine.MemoryRegion;
import io.sluice.testkit.FuzzSeed;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Numbers of 8 and 10 bits: all that there are, and how far off random ones are. */
class NumberFormatsTest {
    private static final int GROUP = 128;
    private static final int INFINITE = 0x7F80;
    private static final double LEAST_E4M3_ERROR = 2.4e-2;
    private static final double MOST_E4M3_ERROR = 2.8e-2;
    private static final double MOST_LOG_FORMAT_ERROR = 4.5e-3;
    private static final int RANDOM_TOKENS = 64;
    private static final int RANDOM_HIDDEN = 2048;

    private final Random random = FuzzSeed.of("NumberFormatsTest").random();

    /** Tokens of one rank with one expert. */
    private static Workload work(short[] elements, int hidden) {
        int tokens = elements.length / hidden;
        float[] weights = new float[tokens];
        Arrays.fill(weights, 1);
        return new Workload(
                1,
                1,
                hidden,
                1,
                tokens,
                new int[] {tokens},
                new short[][] {elements},
                new long[][] {new long[tokens]},
                new float[][] {weights},
                0);
    }

    private static CrossRanks oneRank(Workload work) {
        CrossRanks ranks = CrossRanks.form("shm", 1);
        ranks.createBuffers(ExpertOptions.experts(1)
                .hidden(work.hidden())
                .maxTokensPerRank(work.maxTokens())
                .topK(1));
        return ranks;
    }

    /** All finite numbers: those of a size together, and mixed. */
    private List<short[]> finite() {
        List<Short> all = new ArrayList<>();
        for (int magnitude = 0; magnitude < INFINITE; magnitude++) {
            all.add((short) magnitude);
            all.add((short) (magnitude | 0x8000));
        }
        List<Short> mixed = new ArrayList<>(all);
        Collections.shuffle(mixed, random);
        return List.of(bits(all), bits(mixed));
    }

    private static short[] bits(List<Short> numbers) {
        short[] bits = new short[numbers.size()];
        for (int i = 0; i < bits.length; i++) {
            bits[i] = numbers.get(i);
        }
        return bits;
    }

    @ParameterizedTest
    @EnumSource(
            value = ExpertCross.Encoding.class,
            names = {"FP8", "FP8_POWERS_OF_TWO"})
    void allFiniteNumbersHaveTheirCodesAndScales(ExpertCross.Encoding encoding) {
        for (short[] elements : finite()) {
            Workload work = work(elements, GROUP);
            try (CrossRanks ranks = oneRank(work)) {
                LowLatencyRun low = new LowLatencyRun(ranks, "all numbers", work, encoding, ExpertCross.Variant.PLAIN);
                low.combine(low.dispatch());
                NormalRun normal = new NormalRun(ranks, "all numbers", work, encoding, ExpertCross.Variant.PLAIN);
                normal.combine(normal.dispatch());
            }
        }
    }

    private short[] normal(float factor) {
        short[] elements = new short[RANDOM_TOKENS * RANDOM_HIDDEN];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = Numbers.toBfloat16(factor * (float) random.nextGaussian());
        }
        return elements;
    }

    @Test
    void normalNumbersAreAsFarOffAsTheirBitsSay() {
        Workload work = work(normal(1), RANDOM_HIDDEN);
        try (CrossRanks ranks = oneRank(work)) {
            NormalRun run =
                    new NormalRun(ranks, "normal numbers", work, ExpertCross.Encoding.FP8, ExpertCross.Variant.PLAIN);
            NormalResult result = run.dispatch().getFirst();
            MemorySegment scales = result.scales().orElseThrow();
            double error = 0;
            double norm = 0;
            for (int i = 0; i < work.elements()[0].length; i++) {
                double exact = Numbers.ofBfloat16(work.elements()[0][i]);
                double found = Numbers.ofE4m3(result.tokens().get(ValueLayout.JAVA_BYTE, i))
                        * scales.getAtIndex(ValueLayout.JAVA_FLOAT, i / GROUP);
                error += (found - exact) * (found - exact);
                norm += exact * exact;
            }
            assertThat(Math.sqrt(error / norm)).isBetween(LEAST_E4M3_ERROR, MOST_E4M3_ERROR);
            result.close();
        }
    }

    @Test
    void whatComesBackInLogFormatIsNear() {
        short[] outputs = normal(0.1f);
        Workload work = work(new short[outputs.length], RANDOM_HIDDEN);
        try (CrossRanks ranks = oneRank(work)) {
            LowLatencyRun run = new LowLatencyRun(
                    ranks, "0.1 · normal", work, ExpertCross.Encoding.BFLOAT16, ExpertCross.Variant.PLAIN);
            LowLatencyResult result = run.dispatch().getFirst();
            CrossMemory memory = new CrossMemory(ranks, work, 0, RANDOM_TOKENS, new short[0]);
            // tokens may be in any order
            for (int row = 0; row < RANDOM_TOKENS; row++) {
                int token = result.sources().segment().getAtIndex(ValueLayout.JAVA_INT, row);
                CrossMemory.put(
                        memory.y.segment(),
                        CrossMemory.GUARD + (long) row * RANDOM_HIDDEN * Short.BYTES,
                        Arrays.copyOfRange(outputs, token * RANDOM_HIDDEN, (token + 1) * RANDOM_HIDDEN));
            }
            ranks.<MemoryRegion>call(
                    "combine",
                    (rank, buffer, callback) -> buffer.lowLatencyCombine(
                            result,
                            memory.y,
                            CrossMemory.GUARD,
                            memory.choices,
                            CrossMemory.GUARD,
                            memory.weights,
                            CrossMemory.GUARD,
                            memory.out,
                            CrossMemory.GUARD,
                            CombineOptions.defaults().withFormat(CombineFormat.LOGFMT),
                            callback));
            double error = 0;
            double norm = 0;
            for (int token = 0; token < RANDOM_TOKENS; token++) {
                short[] sums = memory.sums(token);
                for (int i = 0; i < RANDOM_HIDDEN; i++) {
                    double exact = Numbers.ofBfloat16(outputs[token * RANDOM_HIDDEN + i]);
                    double found = Numbers.ofBfloat16(sums[i]);
                    if (Double.isNaN(found)) {
                        fail("element %d of token %d is no number", i, token);
                    }
                    error += (found - exact) * (found - exact);
                    norm += exact * exact;
                }
            }
            assertThat(Math.sqrt(error / norm)).isBetween(Double.MIN_VALUE, MOST_LOG_FORMAT_ERROR);
            result.close();
        }
    }
}
