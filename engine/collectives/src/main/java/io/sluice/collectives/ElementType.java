package io.sluice.collectives;

import io.sluice.collectives.reduce.TypeCode;

/** The type of the elements of a collective, in the host's byte order. All ranks have the same byte order. */
public enum ElementType {
    /** Signed, 8 bits. */
    INT8(TypeCode.INT8, 1),
    /** Unsigned, 8 bits. */
    UINT8(TypeCode.UINT8, 1),
    /** Signed, 32 bits. */
    INT32(TypeCode.INT32, 4),
    /** Unsigned, 32 bits. */
    UINT32(TypeCode.UINT32, 4),
    /** Signed, 64 bits. */
    INT64(TypeCode.INT64, 8),
    /** Unsigned, 64 bits. */
    UINT64(TypeCode.UINT64, 8),
    /** IEEE 754 binary16; computed in float32. */
    FLOAT16(TypeCode.FLOAT16, 2),
    /** The upper half of a float32; computed in float32. */
    BFLOAT16(TypeCode.BFLOAT16, 2),
    /** IEEE 754 binary32. */
    FLOAT32(TypeCode.FLOAT32, 4),
    /** IEEE 754 binary64. */
    FLOAT64(TypeCode.FLOAT64, 8);

    private final int code;
    private final int bytes;

    ElementType(int code, int bytes) {
        this.code = code;
        this.bytes = bytes;
    }

    /**
     * Returns the type's code on the wire.
     *
     * @return 1 to 31; never changes
     */
    public int code() {
        return code;
    }

    /**
     * Returns the length of an element.
     *
     * @return 1, 2, 4 or 8 bytes
     */
    public int bytes() {
        return bytes;
    }
}
