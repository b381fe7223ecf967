package io.sluice.samples.train;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Lets a model write. */
final class Author {
    // Below 1 what is probable is chosen more often than by its probability.
    private static final double TEMPERATURE = 0.7;

    private final Transformer model;
    private final String vocabulary;

    Author(Transformer model, String vocabulary) {
        this.model = model;
        this.vocabulary = vocabulary;
    }

    /** A beginning of characters of the vocabulary, and what the model makes of it: the same for the same seed. */
    String write(String beginning, int characters, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        StringBuilder text = new StringBuilder(beginning);
        while (text.length() < beginning.length() + characters) {
            int[] seen = Corpus.numbers(text.toString(), vocabulary);
            int from = Math.max(0, seen.length - model.shape().context());
            text.append(vocabulary.charAt(choose(model.next(Arrays.copyOfRange(seen, from, seen.length)), random)));
        }
        return text.toString();
    }

    private static int choose(float[] scores, SplittableRandom random) {
        double[] weights = new double[scores.length];
        double highest = IntStream.range(0, scores.length)
                .mapToDouble(i -> scores[i])
                .max()
                .orElseThrow();
        double sum = 0;
        for (int i = 0; i < weights.length; i++) {
            weights[i] = Math.exp((scores[i] - highest) / TEMPERATURE);
            sum += weights[i];
        }
        double left = random.nextDouble() * sum;
        int chosen = 0;
        while (chosen < weights.length - 1 && left >= weights[chosen]) {
            left -= weights[chosen++];
        }
        return chosen;
    }
}
