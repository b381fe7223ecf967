package io.sluice.engine.transport.verbs;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.jni.Errno;
import io.sluice.jni.NativeLibrary;
import io.sluice.jni.VerbsLibrary;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks the results of libibverbs calls for this package. */
final class Native {
    /** The library file to load instead of {@code libibverbs.so.1}. */
    static final String LIBRARY_PROPERTY = "sluice.verbs.library";

    private static final Logger LOG = LoggerFactory.getLogger(Native.class);
    private static final AtomicBoolean CLAIM_IS_LOGGED = new AtomicBoolean();

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private Native() {}

    /** Returns why libibverbs cannot be used, or null. */
    static @Nullable String unavailable() {
        Throwable cause = NativeLibrary.unavailabilityCause();
        if (cause != null) {
            return String.valueOf(cause.getMessage());
        }
        String unavailable = VerbsLibrary.load(System.getProperty(LIBRARY_PROPERTY));
        String claim = VerbsLibrary.claim();
        if (claim != null && CLAIM_IS_LOGGED.compareAndSet(false, true)) {
            LOG.warn("{}", claim);
        }
        return unavailable;
    }

    /** Returns the result of a call for a connection; throws an exception that names what the adapter refused. */
    static long checked(long result, String device, String what) {
        if (result < 0) {
            throw new ConnectFailedException(
                    device + " cannot " + what + ": " + Errno.message((int) -result) + advice((int) -result));
        }
        return result;
    }

    /** As the other check, for opening a device: on an error the transport is unavailable. */
    static long available(long result, String device, String what) {
        if (result < 0) {
            throw new TransportUnavailableException(
                    device + " cannot " + what + ": " + Errno.message((int) -result) + advice((int) -result));
        }
        return result;
    }

    private static String advice(int error) {
        return switch (error) {
            case Errno.ENOMEM -> LockedMemory.advice();
            case Errno.EACCES, Errno.EPERM -> "; may this user open /dev/infiniband/uverbs*?";
            default -> "";
        };
    }

    static int intAt(MemorySegment record, long offset) {
        return record.get(INT, offset);
    }

    static long longAt(MemorySegment record, long offset) {
        return record.get(LONG, offset);
    }
}
