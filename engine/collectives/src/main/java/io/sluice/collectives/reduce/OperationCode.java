package io.sluice.collectives.reduce;

/** The codes of reductions, on the wire and for reducers. An average is a sum that is divided at the end. */
public final class OperationCode {
    public static final int SUM = 1;
    public static final int PRODUCT = 2;
    public static final int MIN = 3;
    public static final int MAX = 4;
    public static final int AVERAGE = 5;

    private OperationCode() {}
}
