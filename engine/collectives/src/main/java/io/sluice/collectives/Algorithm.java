package io.sluice.collectives;

/** The algorithms of collectives. Not every one serves every kind. */
public enum Algorithm {
    /** The one that the team's {@link AlgorithmTable} names for the kind, the size and the number of ranks. */
    AUTO(0, "auto"),
    /** log2(n) exchanges of the whole with ranks at growing distance; other ranks are folded in and out. */
    RECURSIVE_DOUBLING(1, "recursive-doubling"),
    /** Blocks travel round, from each rank to the next, in pipelined chunks. */
    RING(2, "ring"),
    /** A binomial tree. */
    BINOMIAL(3, "binomial"),
    /** Every rank sends straight to those that need it. */
    DIRECT(4, "direct"),
    /** log2(n) rounds of empty messages at growing distance. */
    DISSEMINATION(5, "dissemination"),
    /** Every rank gives its whole vector to all, and all reduce it in the order of the ranks: one round, for few ranks. */
    FLAT(6, "flat"),
    /** Recursive halving, then doubling: log2(n) exchanges of ever smaller parts, and of ever larger ones. */
    RABENSEIFNER(7, "rabenseifner"),
    /** log2(n) exchanges, each of half of what a rank still reduces; other ranks are folded in and out. */
    RECURSIVE_HALVING(8, "recursive-halving"),
    /** log2(n) rounds of what a rank has gathered so far, or of all blocks that go as far. */
    BRUCK(9, "bruck"),
    /** The root gives each rank a share, and these pass their shares round. */
    SCATTER_ALL_GATHER(10, "scatter-all-gather"),
    /** Every rank sends straight to those that need it, to eight at once, in chunks. */
    PAIRWISE(11, "pairwise"),
    /**
     * Every rank reads the other ranks' regions where they are, without messages for the data: it reduces its share of all
     * sources at once, or copies what it needs. Possible if all ranks reach each other by shm, there are at most 64, and
     * the regions were allocated by their engines and give peers the right to read; in an all-to-all, no rank may call it
     * in place. Otherwise all ranks take the algorithm that the table would name without this one, after an exchange of
     * small messages, and {@link Collective#algorithm()} says so. A region is attached by the other ranks at its first use.
     * The operands of 16-bit floats are rounded once, at the end.
     */
    MAPPED(32, "mapped");

    private final int code;
    private final String text;

    Algorithm(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /**
     * Returns the algorithm's code on the wire.
     *
     * @return 0 to 63; never changes
     */
    public int code() {
        return code;
    }

    /** Returns the name in tables, such as {@code recursive-doubling}. */
    @Override
    public String toString() {
        return text;
    }

    static Algorithm parse(String text) {
        for (Algorithm algorithm : values()) {
            if (algorithm.text.equals(text)) {
                return algorithm;
            }
        }
        throw new IllegalArgumentException("no algorithm is named '" + text + "'");
    }
}
