package io.sluice.experts;

import java.util.Random;

/**
 * The tokens of all ranks, and the experts that they choose.
 *
 * @param maxTokens the most that a rank may have
 * @param tokens how many each rank has
 * @param elements by rank: bfloat16, token after token
 * @param choices by rank: for each token the experts that it goes to, −1 for none
 * @param weights by rank: for each choice
 */
record Workload(
        int ranks,
        int experts,
        int hidden,
        int topK,
        int maxTokens,
        int[] tokens,
        short[][] elements,
        long[][] choices,
        float[][] weights,
        long seed) {
    private static final int MASKED_OF = 3;
    // 2^−6
    private static final int LEAST_EXPONENT = 121;

    /** Which experts tokens choose. */
    enum Routing {
        /** Any. */
        RANDOM,
        /** All the same one. */
        ONE_EXPERT,
        /** Any but those of the last rank. */
        SPARED_RANK,
        /** Those of the token's own rank. */
        OWN_RANK
    }

    /** Which choices are none. */
    enum Mask {
        NONE,
        /** A third of them. */
        SOME,
        /** All of some tokens, and a third of the others. */
        WHOLE_TOKENS
    }

    /** How many tokens a rank has. */
    enum Count {
        ZERO,
        ONE,
        ALL_BUT_ONE,
        ALL,
        /** The ranks take turns with the others. */
        MIXED;

        int of(int rank, int maxTokens) {
            return switch (this) {
                case ZERO -> 0;
                case ONE -> 1;
                case ALL_BUT_ONE -> maxTokens - 1;
                case ALL -> maxTokens;
                case MIXED -> values()[(rank + 3) % 4].of(rank, maxTokens);
            };
        }
    }

    static Workload of(
            int ranks,
            int experts,
            int hidden,
            int topK,
            int maxTokens,
            Count count,
            Routing routing,
            Mask mask,
            long seed) {
        Random random = new Random(seed);
        int[] tokens = new int[ranks];
        short[][] elements = new short[ranks][];
        long[][] choices = new long[ranks][];
        float[][] weights = new float[ranks][];
        int one = random.nextInt(experts);
        for (int rank = 0; rank < ranks; rank++) {
            tokens[rank] = count.of(rank, maxTokens);
            elements[rank] = elements(tokens[rank], hidden, random);
            choices[rank] = new long[tokens[rank] * topK];
            weights[rank] = new float[tokens[rank] * topK];
            int perRank = experts / ranks;
            for (int token = 0; token < tokens[rank]; token++) {
                boolean masked = mask == Mask.WHOLE_TOKENS && random.nextInt(MASKED_OF) == 0;
                int[] candidates = switch (routing) {
                    case RANDOM -> shuffled(0, experts, random);
                    case ONE_EXPERT -> new int[] {one};
                    case SPARED_RANK -> shuffled(0, experts - perRank, random);
                    case OWN_RANK -> shuffled(rank * perRank, perRank, random);
                };
                for (int k = 0; k < topK; k++) {
                    boolean none = masked || (mask != Mask.NONE && random.nextInt(MASKED_OF) == 0);
                    int at = token * topK + k;
                    choices[rank][at] = none || k >= candidates.length ? -1 : candidates[k];
                    weights[rank][at] = random.nextFloat() - 0.25f;
                }
            }
        }
        return new Workload(ranks, experts, hidden, topK, maxTokens, tokens, elements, choices, weights, seed);
    }

    /** Of which a row in four has a wide range, zeros of both signs and subnormal numbers. */
    private static short[] elements(int tokens, int hidden, Random random) {
        short[] elements = new short[tokens * hidden];
        for (int token = 0; token < tokens; token++) {
            boolean wide = random.nextInt(4) == 0;
            for (int i = 0; i < hidden; i++) {
                float value = wide
                        ? Math.scalb(random.nextFloat() - 0.5f, random.nextInt(160) - 140)
                        : (float) random.nextGaussian();
                elements[token * hidden + i] = Numbers.toBfloat16(value);
            }
        }
        return elements;
    }

    private static int[] shuffled(int first, int count, Random random) {
        int[] all = new int[count];
        for (int i = 0; i < count; i++) {
            int other = random.nextInt(i + 1);
            all[i] = all[other];
            all[other] = first + i;
        }
        return all;
    }

    int expertsPerRank() {
        return experts / ranks;
    }

    long choice(int rank, int token, int k) {
        return choices[rank][token * topK + k];
    }

    float weight(int rank, int token, int k) {
        return weights[rank][token * topK + k];
    }

    /** Whether a token has a choice on a rank. */
    boolean goesTo(int rank, int token, int target) {
        for (int k = 0; k < topK; k++) {
            long choice = choice(rank, token, k);
            if (choice >= 0 && choice / expertsPerRank() == target) {
                return true;
            }
        }
        return false;
    }

    /**
     * Writes the output of an expert, or in normal mode of the experts of a rank, for a token: numbers that depend on all of
     * these.
     *
     * @param target the expert or the rank
     * @param output for as many elements as a token has
     */
    void output(int rank, int token, int target, short[] output) {
        long state = seed * 31 + rank;
        state = (state * 1_000_003 + token) * 1_000_003 + target;
        for (int i = 0; i < output.length; i++) {
            // splitmix64; exponents near that of 1
            state += 0x9E3779B97F4A7C15L;
            long mixed = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
            mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
            int bits = (int) (mixed >>> 32);
            int exponent = LEAST_EXPONENT + ((bits >>> 8) & 7);
            output[i] = (short) ((bits & 0x8000) | (exponent << 7) | (bits & 0x7F));
        }
    }
}
