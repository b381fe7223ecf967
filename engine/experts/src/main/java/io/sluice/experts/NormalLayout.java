package io.sluice.experts;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;

/**
 * Where the tokens of a rank go in normal mode: each token once to each rank that has one of its experts. Made by {@link
 * ExpertBuffer#layout}, which can fill it again; a dispatch copies what it needs before its call returns. Not thread-safe.
 */
public final class NormalLayout {
    private final int expertsPerRank;
    private final int topK;
    private final int maxTokens;
    private final int[] perRank;
    private final int[] perExpert;
    // by rank: the tokens that go there, in ascending order
    private final int[][] sent;
    private int tokens;

    NormalLayout(int ranks, int experts, int topK, int maxTokens) {
        this.expertsPerRank = experts / ranks;
        this.topK = topK;
        this.maxTokens = maxTokens;
        this.perRank = new int[ranks];
        this.perExpert = new int[experts];
        this.sent = new int[ranks][maxTokens];
    }

    /**
     * Counts the choices of tokens.
     *
     * @param choices experts of each token, 64-bit integers, token after token; −1 for none
     * @param offset where they begin, in bytes
     * @throws IllegalArgumentException if there are too many tokens, or a choice is no expert; the layout is then empty
     */
    void fill(MemorySegment choices, long offset, int newTokens) {
        clear();
        if (newTokens < 0 || newTokens > maxTokens) {
            throw new IllegalArgumentException("a rank has 0 to " + maxTokens + " tokens, not " + newTokens);
        }
        Objects.checkFromIndexSize(offset, (long) newTokens * topK * Long.BYTES, choices.byteSize());
        long at = offset;
        for (int token = 0; token < newTokens; token++) {
            for (int k = 0; k < topK; k++) {
                long choice = choices.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
                at += Long.BYTES;
                if (choice >= 0 && choice < perExpert.length) {
                    count(token, (int) choice);
                } else if (choice != -1) {
                    clear();
                    throw new IllegalArgumentException("choice " + k + " of token " + token + " is " + choice
                            + ", neither −1 nor one of " + perExpert.length + " experts");
                }
            }
        }
        tokens = newTokens;
    }

    private void count(int token, int expert) {
        perExpert[expert]++;
        int rank = expert / expertsPerRank;
        int before = perRank[rank];
        if (before == 0 || sent[rank][before - 1] != token) {
            sent[rank][before] = token;
            perRank[rank] = before + 1;
        }
    }

    private void clear() {
        tokens = 0;
        Arrays.fill(perRank, 0);
        Arrays.fill(perExpert, 0);
    }

    /** Whether it is of a buffer of this shape. */
    boolean fits(int ranks, int experts, int choices, int most) {
        return perRank.length == ranks && perExpert.length == experts && topK == choices && maxTokens == most;
    }

    /** The tokens that go to a rank, in ascending order; {@link #tokensToRank} of them count. */
    int[] sentTo(int rank) {
        return sent[rank];
    }

    /**
     * Returns the number of tokens.
     *
     * @return 0 or more
     */
    public int tokens() {
        return tokens;
    }

    /**
     * Returns how many tokens go to a rank.
     *
     * @param rank from 0 to the number of ranks minus 1
     * @return 0 to {@link #tokens()}
     */
    public int tokensToRank(int rank) {
        return perRank[rank];
    }

    /**
     * Returns how many choices fall on an expert.
     *
     * @param expert from 0 to the number of experts minus 1
     * @return 0 or more
     */
    public int tokensToExpert(int expert) {
        return perExpert[expert];
    }

    /**
     * Returns whether a token goes to a rank.
     *
     * @param token from 0 to {@link #tokens()} − 1
     * @param rank from 0 to the number of ranks minus 1
     * @return whether one of its experts is there
     */
    public boolean isTokenInRank(int token, int rank) {
        return Arrays.binarySearch(sent[rank], 0, perRank[rank], token) >= 0;
    }
}
