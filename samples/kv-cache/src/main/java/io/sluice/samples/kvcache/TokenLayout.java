package io.sluice.samples.kvcache;

import java.util.Objects;

/**
 * How a request's input tokens fall into pages and blocks. A page holds {@value #PAGE_TOKENS} tokens of one layer, a
 * block {@value #BLOCK_TOKENS} tokens; the last block of a request may be partial. Only whole pages are ever
 * transferred: the tokens after the last whole page are left to the decode process to recompute.
 */
public final class TokenLayout {
    /** Tokens of one page. */
    public static final int PAGE_TOKENS = 16;

    /** Tokens of one block, the unit that a block hash names. */
    public static final int BLOCK_TOKENS = 512;

    /** Pages, for each layer, of one full block. */
    public static final int BLOCK_PAGES = BLOCK_TOKENS / PAGE_TOKENS;

    private TokenLayout() {}

    /**
     * The blocks that an input spans; the last one counts even if it is partial.
     *
     * @param inputTokens tokens, not negative
     */
    public static int blocks(int inputTokens) {
        checkTokens(inputTokens);
        return inputTokens / BLOCK_TOKENS + (inputTokens % BLOCK_TOKENS == 0 ? 0 : 1);
    }

    /**
     * The whole pages, for each layer, of an input.
     *
     * @param inputTokens tokens, not negative
     */
    public static int wholePages(int inputTokens) {
        checkTokens(inputTokens);
        return inputTokens / PAGE_TOKENS;
    }

    /**
     * The whole pages, for each layer, of one block of an input: {@value #BLOCK_PAGES} for all blocks but the last,
     * and possibly none for the last.
     *
     * @param inputTokens tokens, not negative
     * @param block from 0 to {@code blocks(inputTokens) - 1}
     */
    public static int pagesOfBlock(int inputTokens, int block) {
        Objects.checkIndex(block, blocks(inputTokens));
        return Math.min(BLOCK_PAGES, wholePages(inputTokens) - block * BLOCK_PAGES);
    }

    private static void checkTokens(int inputTokens) {
        if (inputTokens < 0) {
            throw new IllegalArgumentException("input tokens must not be negative: " + inputTokens);
        }
    }
}
