package io.sluice.samples.bench;

import io.sluice.experts.ExpertOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The tokens of all ranks, where they go, and the results that must come of them; every rank knows all. A vector is a part of a
 * table of random numbers, at a place that depends on the block, the rank, the token and the maker. Places are whole groups of
 * channels that share a scale, so the table has the codes of each vector as well.
 */
final class ExpertContent implements AutoCloseable {
    /** The places; a prime. */
    private static final int PLACES = 4_093;

    private static final int GROUP = ExpertOptions.CHANNELS_OF_A_SCALE;
    private static final long SEED = 0x51_0ce;
    private static final int HALF_WORD = 16;
    private static final int ROUND = 0x7fff;
    private static final byte POISON = (byte) 0xa5;

    private final ExpertMode mode;
    private final int topK;
    private final int tokens;
    private final int hidden;
    private final int localExperts;
    private final Arena arena = Arena.ofShared();
    private final float[] numbers;
    private final MemorySegment values;
    private final MemorySegment codes;
    private final MemorySegment scales;
    private final int[][] choices;
    private final float[][] weights;

    ExpertContent(ExpertPlan plan) {
        mode = plan.mode();
        topK = plan.topK();
        tokens = plan.tokens();
        hidden = plan.hidden();
        localExperts = plan.localExperts();
        int groups = PLACES + hidden / GROUP;
        numbers = new float[groups * GROUP];
        values = arena.allocate((long) groups * GROUP * Short.BYTES, Long.BYTES);
        codes = arena.allocate((long) groups * GROUP, Long.BYTES);
        scales = arena.allocate((long) groups * Float.BYTES, Long.BYTES);
        fillTable(groups);
        choices = new int[plan.ranks()][];
        weights = new float[plan.ranks()][];
        for (int rank = 0; rank < plan.ranks(); rank++) {
            SplittableRandom random = new SplittableRandom(SEED + rank);
            choices[rank] = chosen(random, plan.experts());
            weights[rank] = new float[tokens * topK];
            for (int i = 0; i < weights[rank].length; i++) {
                weights[rank][i] = (float) random.nextDouble();
            }
        }
    }

    private void fillTable(int groups) {
        SplittableRandom random = new SplittableRandom(SEED);
        byte[] group = new byte[GROUP];
        for (int i = 0; i < numbers.length; i++) {
            short bits = toBfloat16((float) random.nextGaussian());
            numbers[i] = toFloat(bits);
            values.setAtIndex(ValueLayout.JAVA_SHORT, i, bits);
        }
        for (int i = 0; i < groups; i++) {
            Float8.quantise(numbers, i * GROUP, group);
            MemorySegment.copy(group, 0, codes, ValueLayout.JAVA_BYTE, (long) i * GROUP, GROUP);
            scales.setAtIndex(ValueLayout.JAVA_FLOAT, i, Float8.inverseScale(numbers, i * GROUP));
        }
    }

    /** Each token's experts are others. */
    private int[] chosen(SplittableRandom random, int experts) {
        int[] all = new int[experts];
        for (int i = 0; i < experts; i++) {
            all[i] = i;
        }
        int[] chosen = new int[tokens * topK];
        for (int i = 0; i < chosen.length; i++) {
            int k = i % topK;
            int other = k + random.nextInt(experts - k);
            int expert = all[other];
            all[other] = all[k];
            all[k] = expert;
            chosen[i] = expert;
        }
        return chosen;
    }

    private static short toBfloat16(float value) {
        int bits = Float.floatToRawIntBits(value);
        return (short) ((bits + ROUND + ((bits >>> HALF_WORD) & 1)) >>> HALF_WORD);
    }

    private static float toFloat(short bits) {
        return Float.intBitsToFloat(bits << HALF_WORD);
    }

    /** The expert that a token of a rank has at k. */
    int choice(int rank, int token, int k) {
        return choices[rank][token * topK + k];
    }

    /** The weight of that expert. */
    float weight(int rank, int token, int k) {
        return weights[rank][token * topK + k];
    }

    /** Whether a token of a rank has an expert on another one, or on the same. */
    boolean goesTo(int from, int token, int rank) {
        for (int k = 0; k < topK; k++) {
            if (choice(from, token, k) / localExperts == rank) {
                return true;
            }
        }
        return false;
    }

    /** Of all ranks in one dispatch: vectors that travel, those for the own rank too. */
    long vectors() {
        int ranks = choices.length;
        if (mode == ExpertMode.LOW_LATENCY) {
            return (long) ranks * tokens * topK;
        }
        long vectors = 0;
        for (int from = 0; from < ranks; from++) {
            for (int token = 0; token < tokens; token++) {
                for (int rank = 0; rank < ranks; rank++) {
                    vectors += goesTo(from, token, rank) ? 1 : 0;
                }
            }
        }
        return vectors;
    }

    /** Writes a rank's choices, as 64-bit integers. */
    void putChoices(int rank, MemorySegment to) {
        for (int i = 0; i < choices[rank].length; i++) {
            to.setAtIndex(ValueLayout.JAVA_LONG, i, choices[rank][i]);
        }
    }

    /** Writes a rank's weights, as floats. */
    void putWeights(int rank, MemorySegment to) {
        MemorySegment.copy(weights[rank], 0, to, ValueLayout.JAVA_FLOAT, 0, weights[rank].length);
    }

    /** The vector of a token. */
    Vector token(long block, int rank, int token) {
        return vector(block, rank, token, -1);
    }

    /** The vector that a maker, an expert or a rank, has made of a token. */
    Vector answer(long block, int rank, int token, int maker) {
        return vector(block, rank, token, maker);
    }

    private Vector vector(long block, int rank, int token, int maker) {
        long seed = ((block * choices.length + rank) * tokens + token) * PLACES + maker;
        long mixed = new SplittableRandom(seed).nextLong();
        return new Vector((int) Long.remainderUnsigned(mixed, PLACES));
    }

    /** Fills memory with what no vector is. */
    static void poison(MemorySegment memory) {
        memory.fill(POISON);
    }

    @Override
    public void close() {
        arena.close();
    }

    /** A vector, by the first of its groups in the table. */
    final class Vector {
        private final int place;

        private Vector(int place) {
            this.place = place;
        }

        /** Writes it as bfloat16. */
        void put(MemorySegment to, long offset) {
            MemorySegment.copy(values, (long) place * GROUP * Short.BYTES, to, offset, (long) hidden * Short.BYTES);
        }

        /** Whether memory holds exactly it, as bfloat16. */
        boolean isIn(MemorySegment memory, long offset) {
            return isSame(values, (long) place * GROUP * Short.BYTES, memory, offset, (long) hidden * Short.BYTES);
        }

        /** Whether memory holds exactly its codes. */
        boolean isQuantisedIn(MemorySegment memory, long offset) {
            return isSame(codes, (long) place * GROUP, memory, offset, hidden);
        }

        private static boolean isSame(MemorySegment a, long at, MemorySegment b, long other, long bytes) {
            return MemorySegment.mismatch(a, at, at + bytes, b, other, other + bytes) < 0;
        }

        /** Whether memory holds exactly its scales, so many bytes from one to the next. */
        boolean hasScales(MemorySegment memory, long offset, long stride) {
            for (int group = 0; group < hidden / GROUP; group++) {
                int expected = scales.getAtIndex(ValueLayout.JAVA_INT, (long) place + group);
                if (memory.get(ValueLayout.JAVA_INT, offset + group * stride) != expected) {
                    return false;
                }
            }
            return true;
        }
    }

    /** A weighted sum of vectors, made as combine has to: in float32, term after term. */
    final class Sum {
        private final float[] sum = new float[hidden];
        private final short[] rounded = new short[hidden];
        private final MemorySegment expected = MemorySegment.ofArray(rounded);

        void clear() {
            Arrays.fill(sum, 0);
        }

        void add(Vector vector, float weight) {
            int first = vector.place * GROUP;
            for (int i = 0; i < sum.length; i++) {
                sum[i] += weight * numbers[first + i];
            }
        }

        /** Makes what combine has to give for a token: of its experts' answers by their weights, or of those of their ranks. */
        void answersTo(long block, int rank, int token) {
            clear();
            if (mode == ExpertMode.LOW_LATENCY) {
                for (int k = 0; k < topK; k++) {
                    add(answer(block, rank, token, choice(rank, token, k)), weight(rank, token, k));
                }
                return;
            }
            for (int other = 0; other < choices.length; other++) {
                if (goesTo(rank, token, other)) {
                    add(answer(block, rank, token, other), 1);
                }
            }
        }

        /** Whether memory holds exactly it, rounded to bfloat16 once. */
        boolean isIn(MemorySegment memory, long offset) {
            for (int i = 0; i < sum.length; i++) {
                rounded[i] = toBfloat16(sum[i]);
            }
            long bytes = expected.byteSize();
            return MemorySegment.mismatch(expected, 0, bytes, memory, offset, offset + bytes) < 0;
        }
    }
}
