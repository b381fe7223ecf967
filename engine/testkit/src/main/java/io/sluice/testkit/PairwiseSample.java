package io.sluice.testkit;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Rows of which each two values of two factors occur together in one at least; far fewer than all rows. */
public final class PairwiseSample {
    private final int[] sizes;
    private final Random random;
    // by the two factors, and then by the two values
    private final BitSet[][] open;

    private PairwiseSample(int[] sizes, Random random) {
        this.sizes = sizes;
        this.random = random;
        this.open = new BitSet[sizes.length][sizes.length];
        for (int first = 0; first < sizes.length; first++) {
            for (int second = first + 1; second < sizes.length; second++) {
                open[first][second] = new BitSet();
                open[first][second].set(0, sizes[first] * sizes[second]);
            }
        }
    }

    /**
     * Chooses rows.
     *
     * @param sizes how many values each factor has
     * @param random decides between equals
     * @return rows of the values' numbers, by factor
     */
    public static List<int[]> of(int[] sizes, Random random) {
        PairwiseSample sample = new PairwiseSample(sizes, random);
        List<int[]> rows = new ArrayList<>();
        for (int first = 0; first < sizes.length; first++) {
            for (int second = first + 1; second < sizes.length; second++) {
                while (!sample.open[first][second].isEmpty()) {
                    rows.add(sample.row(first, second));
                }
            }
        }
        return rows;
    }

    /** A row with an open pair of two factors, and as many others as come along. */
    private int[] row(int first, int second) {
        BitSet left = open[first][second];
        int from = random.nextInt(sizes[first] * sizes[second]);
        int pair = left.nextSetBit(from) >= 0 ? left.nextSetBit(from) : left.nextSetBit(0);
        int[] row = new int[sizes.length];
        Arrays.fill(row, -1);
        row[first] = pair / sizes[second];
        row[second] = pair % sizes[second];
        List<Integer> others = new ArrayList<>();
        for (int factor = 0; factor < sizes.length; factor++) {
            if (row[factor] < 0) {
                others.add(factor);
            }
        }
        Collections.shuffle(others, random);
        others.forEach(factor -> row[factor] = best(row, factor));
        for (int one = 0; one < sizes.length; one++) {
            for (int other = one + 1; other < sizes.length; other++) {
                open[one][other].clear(row[one] * sizes[other] + row[other]);
            }
        }
        return row;
    }

    private int best(int[] row, int factor) {
        int best = 0;
        int most = -1;
        int start = random.nextInt(sizes[factor]);
        for (int i = 0; i < sizes[factor]; i++) {
            int value = (start + i) % sizes[factor];
            int gained = 0;
            for (int other = 0; other < sizes.length; other++) {
                if (row[other] >= 0 && isOpen(factor, value, other, row[other])) {
                    gained++;
                }
            }
            if (gained > most) {
                most = gained;
                best = value;
            }
        }
        return best;
    }

    private boolean isOpen(int one, int oneValue, int other, int otherValue) {
        return one < other
                ? open[one][other].get(oneValue * sizes[other] + otherValue)
                : open[other][one].get(otherValue * sizes[one] + oneValue);
    }
}
