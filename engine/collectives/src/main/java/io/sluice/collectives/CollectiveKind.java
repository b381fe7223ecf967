package io.sluice.collectives;

/** The kinds of collectives. */
public enum CollectiveKind {
    /** Every rank gets the reduction of all ranks' elements. */
    ALL_REDUCE(1, "all-reduce"),
    /** Each rank gets one block of the reduction of all ranks' elements. */
    REDUCE_SCATTER(2, "reduce-scatter"),
    /** Every rank gets the blocks of all ranks. */
    ALL_GATHER(3, "all-gather"),
    /** Every rank gets the root's elements. */
    BROADCAST(4, "broadcast"),
    /** The root gets the reduction of all ranks' elements. */
    REDUCE(5, "reduce"),
    /** The root gets the blocks of all ranks. */
    GATHER(6, "gather"),
    /** Each rank gets one of the root's blocks. */
    SCATTER(7, "scatter"),
    /** Each rank gets one block from every rank. */
    ALL_TO_ALL(8, "all-to-all"),
    /** No rank goes on before all have called it. */
    BARRIER(9, "barrier"),
    /** One rank sends to another. */
    SEND(10, "send"),
    /** One rank receives from another. */
    RECEIVE(11, "receive");

    private final int code;
    private final String text;

    CollectiveKind(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /**
     * Returns the kind's code on the wire.
     *
     * @return 1 to 63; never changes
     */
    public int code() {
        return code;
    }

    /** Returns the name in running text, such as {@code all-reduce}. */
    @Override
    public String toString() {
        return text;
    }

    static CollectiveKind parse(String text) {
        for (CollectiveKind kind : values()) {
            if (kind.text.equals(text)) {
                return kind;
            }
        }
        throw new IllegalArgumentException("no kind of collective is named '" + text + "'");
    }

    static String textOf(int code) {
        for (CollectiveKind kind : values()) {
            if (kind.code == code) {
                return kind.text;
            }
        }
        return "kind " + code;
    }
}
