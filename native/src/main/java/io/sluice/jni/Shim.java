package io.sluice.jni;

/** Version and build of the C shim. */
final class Shim {
    /**
     * The version of the interface between this package and the C code. Increment it with every change of a native
     * method or record layout. The generated header carries it into the shim.
     */
    static final int ABI_VERSION = 7;

    private Shim() {}

    /** The {@link #ABI_VERSION} that the loaded library was compiled with. */
    static native int abiVersion();

    /** The platform and compiler of the loaded library. */
    static native String description();
}
