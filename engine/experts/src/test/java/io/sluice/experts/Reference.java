package io.sluice.experts;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Dispatch and combine of all ranks in one thread, straight from their definitions: no code of the module, no memory but
 * arrays.
 */
final class Reference {
    private static final int GROUP = 128;
    private static final double SLACK = 1.01;
    private static final double BFLOAT16 = 0x1p-8;
    private static final double FLOAT32 = 0x1p-24;
    // half of the least distance of two bfloat16 numbers, and a little more
    private static final double LEAST = 0x1p-133;

    private final Workload work;
    // of the latest scales
    private final Map<Long, Encoded> encoded = new HashMap<>();
    private Numbers.@Nullable Scales encodedWith;

    /** A token, encoded: codes, and an inverse scale for each group. */
    record Encoded(byte[] codes, float[] inverseScales) {}

    Reference(Workload work) {
        this.work = work;
    }

    // ---- where tokens go ----

    /** The tokens of a source that choose an expert, in ascending order. */
    int[] tokensOf(int source, int expert) {
        int[] found = new int[work.tokens()[source]];
        int count = 0;
        for (int token = 0; token < work.tokens()[source]; token++) {
            for (int k = 0; k < work.topK(); k++) {
                if (work.choice(source, token, k) == expert) {
                    found[count++] = token;
                }
            }
        }
        return Arrays.copyOf(found, count);
    }

    /** The tokens of a source that have a choice on a rank, in ascending order. */
    int[] tokensTo(int source, int target) {
        int[] found = new int[work.tokens()[source]];
        int count = 0;
        for (int token = 0; token < work.tokens()[source]; token++) {
            if (work.goesTo(source, token, target)) {
                found[count++] = token;
            }
        }
        return Arrays.copyOf(found, count);
    }

    /** The tokens that all sources together send to an expert. */
    int tokensOf(int expert) {
        int count = 0;
        for (int source = 0; source < work.ranks(); source++) {
            count += tokensOf(source, expert).length;
        }
        return count;
    }

    /** A choice as the rank of its expert has it: the number there, or −1 if the expert is elsewhere. */
    long localChoice(int source, int token, int k, int target) {
        long choice = work.choice(source, token, k);
        return choice >= 0 && choice / work.expertsPerRank() == target ? choice % work.expertsPerRank() : -1;
    }

    /** The weight that goes with {@link #localChoice}: 0 where that is −1. */
    float localWeight(int source, int token, int k, int target) {
        return localChoice(source, token, k, target) < 0 ? 0 : work.weight(source, token, k);
    }

    // ---- what arrives ----

    short[] row(int source, int token) {
        return Arrays.copyOfRange(work.elements()[source], token * work.hidden(), (token + 1) * work.hidden());
    }

    Encoded encoded(int source, int token, Numbers.Scales scales) {
        if (encodedWith != scales) {
            encoded.clear();
            encodedWith = scales;
        }
        return encoded.computeIfAbsent(
                ((long) source << Integer.SIZE) | token, unknown -> encode(source, token, scales));
    }

    private Encoded encode(int source, int token, Numbers.Scales scales) {
        short[] row = row(source, token);
        byte[] codes = new byte[row.length];
        float[] inverse = new float[row.length / GROUP];
        for (int group = 0; group < inverse.length; group++) {
            inverse[group] = Numbers.inverseScale(row, group * GROUP, GROUP, scales);
            float scale = Numbers.scale(row, group * GROUP, GROUP, scales);
            for (int i = group * GROUP; i < (group + 1) * GROUP; i++) {
                codes[i] = Numbers.toE4m3(Numbers.ofBfloat16(row[i]) * scale);
            }
        }
        return new Encoded(codes, inverse);
    }

    // ---- what comes back ----

    /** The weighted sum of what the experts of a token made of it, in float32 in the order of k. */
    short[] weighted(int source, int token) {
        float[] sum = new float[work.hidden()];
        short[] output = new short[work.hidden()];
        for (int k = 0; k < work.topK(); k++) {
            int expert = (int) work.choice(source, token, k);
            if (expert < 0) {
                continue;
            }
            work.output(source, token, expert, output);
            float weight = work.weight(source, token, k);
            for (int i = 0; i < sum.length; i++) {
                float product = weight * Numbers.ofBfloat16(output[i]);
                sum[i] += product;
            }
        }
        return rounded(sum);
    }

    /**
     * The sum of what the ranks of a token made of it, in float32 in the order of ranks, and then the bias.
     *
     * @param bias the token's, or empty
     */
    short[] unweighted(int source, int token, short[] bias) {
        float[] sum = new float[work.hidden()];
        short[] output = new short[work.hidden()];
        for (int target = 0; target < work.ranks(); target++) {
            if (!work.goesTo(source, token, target)) {
                continue;
            }
            work.output(source, token, target, output);
            for (int i = 0; i < sum.length; i++) {
                sum[i] += Numbers.ofBfloat16(output[i]);
            }
        }
        for (int i = 0; i < bias.length; i++) {
            sum[i] += Numbers.ofBfloat16(bias[i]);
        }
        return rounded(sum);
    }

    private static short[] rounded(float[] sum) {
        short[] rounded = new short[sum.length];
        for (int i = 0; i < sum.length; i++) {
            rounded[i] = Numbers.toBfloat16(sum[i]);
        }
        return rounded;
    }

    /**
     * Compares a weighted sum with that in double.
     *
     * @return the first element that is further away than its rounding explains, or −1
     */
    int firstBeyondRounding(int source, int token, short[] found) {
        double[] exact = new double[found.length];
        double[] absolute = new double[found.length];
        sumUp(source, token, exact, absolute);
        for (int i = 0; i < found.length; i++) {
            double allowed = SLACK * (BFLOAT16 * Math.abs(exact[i]) + 2 * work.topK() * FLOAT32 * absolute[i]) + LEAST;
            if (!(Math.abs(Numbers.ofBfloat16(found[i]) - exact[i]) <= allowed)) {
                return i;
            }
        }
        return -1;
    }

    /** The weighted sum of a token in double, and the sum of the magnitudes of what it adds. */
    void sumUp(int source, int token, double[] exact, double[] absolute) {
        short[] output = new short[exact.length];
        for (int k = 0; k < work.topK(); k++) {
            int expert = (int) work.choice(source, token, k);
            if (expert < 0) {
                continue;
            }
            work.output(source, token, expert, output);
            double weight = work.weight(source, token, k);
            for (int i = 0; i < exact.length; i++) {
                double product = weight * Numbers.ofBfloat16(output[i]);
                exact[i] += product;
                absolute[i] += Math.abs(product);
            }
        }
    }
}
