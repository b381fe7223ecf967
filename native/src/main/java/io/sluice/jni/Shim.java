package io.sluice.jni;

/** The C shim itself: what it is, as far as it has to be asked before it is used. */
final class Shim {
    /**
     * Version of the interface between the classes of this package and the C code. Raise it with every change of a
     * native method or of a record's layout. The generated header carries it into the shim.
     */
    static final int ABI_VERSION = 7;

    private Shim() {}

    /** The {@link #ABI_VERSION} with which the loaded library was compiled. */
    static native int abiVersion();

    /** Platform and compiler of the loaded library. */
    static native String description();
}
