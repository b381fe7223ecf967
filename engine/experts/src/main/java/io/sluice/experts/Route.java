package io.sluice.experts;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Where the tokens of a rank go: for each expert its tokens, in their order. */
final class Route {
    private static final ValueLayout.OfLong INDEX = ValueLayout.JAVA_LONG_UNALIGNED;

    private final int experts;
    private final int topK;
    private final int mostTokens;
    private final int[] counts;
    // of the first element of each expert, and the end of all
    private final int[] starts;
    private final int[] tokens;
    private final int[] slots;
    private final boolean[] isChosen;
    // each once
    private final int[] chosen;
    private int tokenCount;

    Route(int experts, int topK, int mostTokens) {
        this.experts = experts;
        this.topK = topK;
        this.mostTokens = mostTokens;
        this.counts = new int[experts];
        this.starts = new int[experts + 1];
        this.tokens = new int[mostTokens * topK];
        this.slots = new int[mostTokens * topK];
        this.isChosen = new boolean[mostTokens];
        this.chosen = new int[mostTokens];
    }

    /**
     * Reads the experts of tokens.
     *
     * @throws IllegalArgumentException if there is no such expert, or one is more often chosen than there may be tokens
     */
    void read(MemorySegment topkIdx, long offset, int count) {
        tokenCount = 0;
        Arrays.fill(counts, 0);
        for (int slot = 0; slot < count * topK; slot++) {
            long expert = topkIdx.get(INDEX, offset + (long) slot * Long.BYTES);
            if (expert < -1 || expert >= experts) {
                throw new IllegalArgumentException("token " + slot / topK + " names expert " + expert
                        + ", and there are " + experts + " (-1 names none)");
            }
            if (expert >= 0 && ++counts[(int) expert] > mostTokens) {
                throw new IllegalArgumentException(
                        "expert " + expert + " is named more often than there may be tokens: " + mostTokens);
            }
        }
        for (int expert = 0; expert < experts; expert++) {
            starts[expert + 1] = starts[expert] + counts[expert];
        }
        fill(topkIdx, offset, count);
        tokenCount = count;
    }

    private void fill(MemorySegment topkIdx, long offset, int count) {
        for (int slot = 0; slot < count * topK; slot++) {
            long expert = topkIdx.get(INDEX, offset + (long) slot * Long.BYTES);
            if (expert >= 0) {
                int from = starts[(int) expert + 1] - counts[(int) expert]--;
                tokens[from] = slot / topK;
                slots[from] = slot;
            }
        }
        for (int expert = 0; expert < experts; expert++) {
            counts[expert] = starts[expert + 1] - starts[expert];
        }
    }

    /** How many tokens there are. */
    int tokens() {
        return tokenCount;
    }

    /** How many tokens an expert gets. */
    int count(int expert) {
        return counts[expert];
    }

    /** Of the elements of experts from one on, the slot of combine of one. */
    int slot(int from, int index) {
        return slots[starts[from] + index];
    }

    /** How many tokens experts get, from one on to another, which is left out. */
    int count(int from, int to) {
        return starts[to] - starts[from];
    }

    /** Finds the tokens that experts get, from one on to another, which is left out. Returns how many, each counted once. */
    int choose(int from, int to) {
        for (int i = starts[from]; i < starts[to]; i++) {
            isChosen[tokens[i]] = true;
        }
        int count = 0;
        for (int token = 0; token < tokenCount; token++) {
            if (isChosen[token]) {
                isChosen[token] = false;
                chosen[count++] = token;
            }
        }
        return count;
    }

    /** One of those that were found, in their order. */
    int chosen(int index) {
        return chosen[index];
    }

    /** Writes down the slots of combine of the tokens that experts get. */
    void writeSlots(int from, int to, MemorySegment target, long offset) {
        MemorySegment.copy(slots, starts[from], target, ValueLayout.JAVA_INT_UNALIGNED, offset, count(from, to));
    }
}
