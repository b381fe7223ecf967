package io.sluice.collectives.reduce;

/** The codes of element types, on the wire and for reducers. */
public final class TypeCode {
    public static final int INT8 = 1;
    public static final int UINT8 = 2;
    public static final int INT32 = 3;
    public static final int UINT32 = 4;
    public static final int INT64 = 5;
    public static final int UINT64 = 6;
    public static final int FLOAT16 = 7;
    public static final int BFLOAT16 = 8;
    public static final int FLOAT32 = 9;
    public static final int FLOAT64 = 10;

    private TypeCode() {}
}
