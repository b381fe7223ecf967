package io.sluice.experts.cuda;

import java.util.Random;

/**
 * Tokens of all ranks, the experts that they choose, and what ranks make of them.
 *
 * @param tokens how many each rank has
 * @param x by rank: bfloat16, token after token
 * @param choices by rank: for each token its experts, −1 for none
 * @param weights by rank: for each choice
 */
record NormalData(
        NormalShape shape, int[] tokens, short[][] x, long[][] choices, float[][] weights, short[][] bias, long seed) {
    /** Which experts tokens choose. */
    enum Routing {
        RANDOM,
        /** A third of the choices are none. */
        MASKED,
        /** All choices of all tokens are of the first rank. */
        FIRST_RANK,
        /** None is of the last rank. */
        SPARED_RANK,
        NOWHERE
    }

    /** How many tokens a rank has. */
    enum Count {
        NONE,
        ONE,
        ALL_BUT_ONE,
        ALL,
        MIXED;

        int of(int rank, int most) {
            return switch (this) {
                case NONE -> 0;
                case ONE -> 1;
                case ALL_BUT_ONE -> most - 1;
                case ALL -> most;
                case MIXED -> values()[(rank + 3) % 4].of(rank, most);
            };
        }
    }

    static NormalData of(NormalShape shape, Count count, Routing routing, boolean special, long seed) {
        Random random = new Random(seed);
        int ranks = shape.ranks();
        NormalData data = new NormalData(
                shape,
                new int[ranks],
                new short[ranks][],
                new long[ranks][],
                new float[ranks][],
                new short[ranks][],
                seed);
        for (int rank = 0; rank < ranks; rank++) {
            int tokens = count.of(rank, shape.maxTokens());
            data.tokens[rank] = tokens;
            data.x[rank] = vectors(tokens * shape.hidden(), special, random);
            data.bias[rank] = vectors(tokens * shape.hidden(), false, random);
            data.choices[rank] = new long[tokens * shape.topK()];
            data.weights[rank] = new float[tokens * shape.topK()];
            for (int i = 0; i < data.choices[rank].length; i++) {
                data.choices[rank][i] = choice(shape, routing, i % shape.topK(), random);
                data.weights[rank][i] = random.nextFloat() - 0.25f;
            }
            data.makeDistinct(rank);
        }
        return data;
    }

    private static long choice(NormalShape shape, Routing routing, int k, Random random) {
        int experts = shape.experts();
        int perRank = experts / shape.ranks();
        return switch (routing) {
            case RANDOM -> random.nextInt(experts);
            case MASKED -> random.nextInt(3) == 0 ? -1 : random.nextInt(experts);
            case FIRST_RANK -> k < perRank ? k : -1;
            case SPARED_RANK -> shape.ranks() == 1 ? -1 : random.nextInt(experts - perRank);
            case NOWHERE -> -1;
        };
    }

    /** A token names an expert once. */
    private void makeDistinct(int rank) {
        int topK = shape.topK();
        for (int i = 0; i < choices[rank].length; i++) {
            for (int before = i - i % topK; before < i; before++) {
                if (choices[rank][before] == choices[rank][i]) {
                    choices[rank][i] = -1;
                }
            }
        }
    }

    /** A row in four has a wide range, zeros of both signs and subnormal numbers; special ones infinities and NaNs as well. */
    private static short[] vectors(int count, boolean special, Random random) {
        short[] elements = new short[count];
        for (int i = 0; i < count; i++) {
            boolean wide = i / 128 % 4 == 0;
            float value = wide
                    ? Math.scalb(random.nextFloat() - 0.5f, random.nextInt(160) - 140)
                    : (float) random.nextGaussian();
            elements[i] = (short) (Float.floatToRawIntBits(value) >>> 16);
            if (special && i / 128 % 3 == 0 && random.nextInt(40) == 0) {
                elements[i] = (short) (random.nextBoolean() ? 0x7F80 : random.nextBoolean() ? 0xFF80 : 0x7FC1);
            }
        }
        return elements;
    }

    /** What the experts of a rank make of a token: numbers that depend on all of these. */
    short[] output(int source, int token, int rank) {
        short[] output = new short[shape.hidden()];
        long state = ((seed * 31 + source) * 1_000_003 + token) * 1_000_003 + rank;
        for (int i = 0; i < output.length; i++) {
            state += 0x9E3779B97F4A7C15L;
            long mixed = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
            mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
            int bits = (int) (mixed >>> 32);
            output[i] = (short) ((bits & 0x8000) | (121 + ((bits >>> 8) & 7)) << 7 | (bits & 0x7F));
        }
        return output;
    }

    boolean goesTo(int source, int token, int rank) {
        int perRank = shape.experts() / shape.ranks();
        for (int k = 0; k < shape.topK(); k++) {
            long choice = choices[source][token * shape.topK() + k];
            if (choice >= 0 && choice / perRank == rank) {
                return true;
            }
        }
        return false;
    }

    /** The sum of a token's outputs, straight from its definition. */
    short[] sum(int source, int token, boolean isBiased) {
        float[] sum = new float[shape.hidden()];
        for (int rank = 0; rank < shape.ranks(); rank++) {
            if (goesTo(source, token, rank)) {
                short[] output = output(source, token, rank);
                for (int i = 0; i < sum.length; i++) {
                    sum[i] += Float.intBitsToFloat(output[i] << 16);
                }
            }
        }
        short[] rounded = new short[sum.length];
        for (int i = 0; i < sum.length; i++) {
            if (isBiased) {
                sum[i] += Float.intBitsToFloat(bias[source][token * sum.length + i] << 16);
            }
            int bits = Float.floatToRawIntBits(sum[i]);
            rounded[i] = (short) (bits + 0x7FFF + (bits >>> 16 & 1) >>> 16);
        }
        return rounded;
    }
}
