package io.sluice.samples.experts;

import java.util.SplittableRandom;

/** Chooses the experts of a token by its last characters, always in the same way: a router that does not learn. Any thread. */
final class Router {
    /** Experts of a token. */
    static final int CHOICES = 2;

    private final float[][] directions;

    Router(int experts, long seed) {
        SplittableRandom random = new SplittableRandom(~seed);
        directions = new float[experts][TextTokens.OF_A_CHARACTER * 2];
        for (float[] direction : directions) {
            for (int i = 0; i < direction.length; i++) {
                direction[i] = (float) random.nextGaussian();
            }
        }
    }

    /**
     * A token's experts and their weights.
     *
     * @param experts the one with the greater weight first
     * @param weights their sum is 1
     */
    record Choice(int[] experts, float[] weights) {
        /** The weight of an expert that was chosen. */
        float weight(int expert) {
            return experts[0] == expert ? weights[0] : weights[1];
        }
    }

    Choice choose(short[] token) {
        int best = -1;
        int second = -1;
        float[] scores = new float[directions.length];
        for (int expert = 0; expert < directions.length; expert++) {
            for (int i = 0; i < directions[expert].length; i++) {
                scores[expert] += directions[expert][i] * Bfloat16.value(token[i]);
            }
            if (best < 0 || scores[expert] > scores[best]) {
                second = best;
                best = expert;
            } else if (second < 0 || scores[expert] > scores[second]) {
                second = expert;
            }
        }
        float weight = (float) (1 / (1 + StrictMath.exp(scores[second] - scores[best])));
        return new Choice(new int[] {best, second}, new float[] {weight, 1 - weight});
    }
}
