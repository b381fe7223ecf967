package io.sluice.jni;

/** The JVM's functions for loading libraries. */
interface Linker {
    /** Loads a file as {@link System#load}. */
    void load(String file);

    /** Loads a library as {@link System#loadLibrary}. */
    void loadLibrary(String name);

    /** Returns the version as {@link Shim#abiVersion}. */
    int abiVersion();

    /** The virtual machine that runs this. */
    @SuppressWarnings("restricted") // loading native code is what this package is for
    final class System implements Linker {
        @Override
        public void load(String file) {
            java.lang.System.load(file);
        }

        @Override
        public void loadLibrary(String name) {
            java.lang.System.loadLibrary(name);
        }

        @Override
        public int abiVersion() {
            return Shim.abiVersion();
        }
    }
}
