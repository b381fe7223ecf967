package io.sluice.engine.transport.verbs;

import io.sluice.jni.VerbsDevice;
import java.util.Arrays;
import org.opentest4j.TestAbortedException;

/** The devices to test on. */
final class TestDevices {
    private TestDevices() {}

    /** A device by its index; each reaches the one next to it. */
    static String get(int index) {
        String unavailable = Native.unavailable();
        if (unavailable != null) {
            throw new TestAbortedException("no RDMA here: " + unavailable);
        }
        String[] names = VerbsDevice.names();
        Arrays.sort(names);
        if (index >= names.length) {
            throw new TestAbortedException("no RDMA device " + index + " here, only " + String.join(", ", names));
        }
        return names[index];
    }

    /** How often to do something again and again: less often where the whole machine is emulated. */
    static int rounds(int onTheSoftwareAdapter) {
        return areInThisProcess() ? onTheSoftwareAdapter : Math.max(1, onTheSoftwareAdapter / 5);
    }

    /** Whether they are the software adapter's, which reaches no other process. */
    static boolean areInThisProcess() {
        return System.getProperty(Native.LIBRARY_PROPERTY) != null;
    }
}
