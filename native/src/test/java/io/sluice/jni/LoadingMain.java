package io.sluice.jni;

/** Loads the library, tells how that went, and calls every native method once. */
final class LoadingMain {
    private LoadingMain() {}

    public static void main(String[] arguments) throws ReflectiveOperationException {
        System.out.println("available: " + NativeLibrary.isAvailable());
        try {
            NativeLibrary.ensureAvailable();
        } catch (IllegalStateException e) {
            e.printStackTrace(System.out);
            System.out.println("same cause: " + (e.getCause() == NativeLibrary.unavailabilityCause()));
            return;
        }
        System.out.println("origin: " + NativeLibrary.origin());
        System.out.println("version: " + NativeLibrary.version());
        EveryNativeMethod.callWithoutEffect();
        try (SocketPair pair = SocketPair.open()) {
            System.out.println("peer: " + pair.peerSeesClient());
        }
        System.out.println("done");
    }
}
