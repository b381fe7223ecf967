package io.sluice.samples.experts;

import java.util.ArrayList;
import java.util.List;

/** One process that has all experts: nothing is sent, and sums are plain Java. */
final class Alone implements Exchange {
    private final int experts;

    Alone(int experts) {
        this.experts = experts;
    }

    @Override
    public int rank() {
        return 0;
    }

    @Override
    public int size() {
        return 1;
    }

    @Override
    public int localExperts() {
        return experts;
    }

    /** The rows of each expert, and the tokens that they are of. */
    private record Kept(List<List<short[]>> rows, List<List<Integer>> tokens, int[][] choices) implements Arrived {
        @Override
        public short[][] rows(int localExpert) {
            return rows.get(localExpert).toArray(short[][]::new);
        }

        @Override
        public void close() {}
    }

    @Override
    public Arrived send(short[][] rows, int[][] choices) {
        Kept kept = new Kept(new ArrayList<>(), new ArrayList<>(), choices);
        for (int expert = 0; expert < experts; expert++) {
            kept.rows.add(new ArrayList<>());
            kept.tokens.add(new ArrayList<>());
        }
        for (int token = 0; token < rows.length; token++) {
            for (int expert : choices[token]) {
                kept.rows.get(expert).add(rows[token]);
                kept.tokens.get(expert).add(token);
            }
        }
        return kept;
    }

    @Override
    public short[][] answer(Arrived arrived, short[][][] results, float[][] weights) {
        Kept kept = (Kept) arrived;
        short[][] sums = new short[weights.length][];
        for (int token = 0; token < sums.length; token++) {
            float[] sum = new float[Expert.WIDTH];
            for (int k = 0; k < weights[token].length; k++) {
                int expert = kept.choices[token][k];
                short[] result = results[expert][kept.tokens.get(expert).indexOf(token)];
                for (int i = 0; i < sum.length; i++) {
                    float product = weights[token][k] * Bfloat16.value(result[i]);
                    sum[i] += product;
                }
            }
            sums[token] = Bfloat16.of(sum);
        }
        return sums;
    }

    @Override
    public float[] gather(float[] mine, int[] counts) {
        return mine;
    }

    @Override
    public long least(long number) {
        return number;
    }

    @Override
    public void shrink() {
        throw new IllegalStateException("one process alone loses no rank");
    }

    @Override
    public void close() {}
}
