package io.sluice.collectives;

import io.sluice.collectives.reduce.OperationCode;

/** How elements of the ranks are combined. Integers wrap around. */
public enum ReduceOperation {
    /** Their sum. */
    SUM(OperationCode.SUM),
    /** Their product. */
    PRODUCT(OperationCode.PRODUCT),
    /** The least. Of floats, a NaN if there is one. */
    MIN(OperationCode.MIN),
    /** The greatest. Of floats, a NaN if there is one. */
    MAX(OperationCode.MAX),
    /** Their sum, divided by the number of ranks at the end: integers towards zero. */
    AVERAGE(OperationCode.AVERAGE);

    private final int code;

    ReduceOperation(int code) {
        this.code = code;
    }

    /**
     * Returns the operation's code on the wire.
     *
     * @return 1 to 31; never changes
     */
    public int code() {
        return code;
    }
}
