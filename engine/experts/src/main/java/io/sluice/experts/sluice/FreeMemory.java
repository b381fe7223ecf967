package io.sluice.experts.sluice;

import io.sluice.engine.RegistrationException;
import io.sluice.jni.MachineFacts;

/** Whether the machine has memory left: the system ends processes where it runs out. */
public final class FreeMemory {
    // less than this costs less than the question how much is free
    private static final long UNASKED = 4L << 20;

    private FreeMemory() {}

    /**
     * Checks that the machine has twice as much memory left.
     *
     * @param what needs it, for the message
     * @param bytes how much
     * @throws RegistrationException if it has not
     */
    public static void check(String what, long bytes) {
        if (bytes < UNASKED) {
            return;
        }
        long left = MachineFacts.availableMemory();
        // negative where the kernel does not say
        if (left >= 0 && bytes > left / 2) {
            throw new RegistrationException(
                    what + " would take " + bytes + " bytes, more than half of the " + left + " bytes that are free");
        }
    }
}
