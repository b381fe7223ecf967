package io.sluice.samples.train;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A text as numbers of characters. Its last tenth is held out: a model is not trained on it, but measured.
 *
 * @param vocabulary the characters in the order of their numbers
 * @param training what models learn from
 * @param heldOut what they are measured on
 */
public record Corpus(String vocabulary, int[] training, int[] heldOut) {
    private static final String NOVEL = "pride-and-prejudice.txt";

    /**
     * The first chapters of a novel in the public domain: Jane Austen, Pride and Prejudice (1813).
     *
     * @throws IOException if this program lacks them
     */
    public static Corpus novel() throws IOException {
        try (InputStream in = Corpus.class.getResourceAsStream(NOVEL)) {
            if (in == null) {
                throw new IOException("this program lacks its resource " + NOVEL);
            }
            String lines = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            // A line is a paragraph.
            return of(lines.strip().replaceAll("(?<!\n)\n(?!\n)", " ").replace("\n\n", "\n"));
        }
    }

    static Corpus of(String text) {
        int[] distinct = text.chars().distinct().sorted().toArray();
        String vocabulary = new String(distinct, 0, distinct.length);
        int[] all = numbers(text, vocabulary);
        int cut = all.length - all.length / 10;
        return new Corpus(vocabulary, Arrays.copyOf(all, cut), Arrays.copyOfRange(all, cut, all.length));
    }

    /** The numbers of a text's characters; of those that are not in the vocabulary there is none. */
    static int[] numbers(String text, String vocabulary) {
        return text.chars()
                .map(vocabulary::indexOf)
                .filter(number -> number >= 0)
                .toArray();
    }

    /** Any sequence of the text to learn from: the same for the same numbers. */
    int[] sequence(long seed, int step, int index, int length) {
        SplittableRandom random = new SplittableRandom(seed ^ (((long) step << 32) + index) * 0x9E3779B97F4A7C15L);
        int start = random.nextInt(training.length - length + 1);
        return Arrays.copyOfRange(training, start, start + length);
    }

    /**
     * How well a table of pairs predicts the held-out text from the pairs of the other.
     *
     * @return the mean negative logarithm of the probability of a character after the one before it
     */
    public double bigramLoss() {
        int count = vocabulary.length();
        double[][] pairs = new double[count][count];
        double[] sums = new double[count];
        for (int i = 1; i < training.length; i++) {
            pairs[training[i - 1]][training[i]]++;
            sums[training[i - 1]]++;
        }
        double loss = 0;
        for (int i = 1; i < heldOut.length; i++) {
            // A pair that was never seen may come.
            double probability = (pairs[heldOut[i - 1]][heldOut[i]] + 0.1) / (sums[heldOut[i - 1]] + 0.1 * count);
            loss -= Math.log(probability);
        }
        return loss / (heldOut.length - 1);
    }

    /** The same of a model: it sees its context, which begins again and again. */
    double loss(Transformer model) {
        double loss = 0;
        int context = model.shape().context();
        for (int start = 0; start < heldOut.length - 1; start += context) {
            loss += model.loss(Arrays.copyOfRange(heldOut, start, Math.min(heldOut.length, start + context + 1)));
        }
        return loss / (heldOut.length - 1);
    }
}
