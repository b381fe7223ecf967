package io.sluice.engine.transport.shm;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransportStatus;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportProvider;
import io.sluice.jni.Errno;
import io.sluice.jni.NativeLibrary;
import io.sluice.jni.SharedMemory;
import io.sluice.jni.Sockets;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The shm transport, available where the kernel lets processes share sealed memory. */
public final class ShmTransportProvider implements TransportProvider {
    private static final String NAME = "shm";
    private static final int PREFERENCE = 20;

    /** For the service loader. */
    public ShmTransportProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int preference() {
        return PREFERENCE;
    }

    @Override
    public TransportStatus status() {
        Throwable cause = NativeLibrary.unavailabilityCause();
        return new TransportStatus(NAME, cause == null ? whyUnavailable() : String.valueOf(cause.getMessage()), cause);
    }

    private static @Nullable String whyUnavailable() {
        if (Host.bootId() == null) {
            return "the kernel's boot id cannot be read (/proc/sys/kernel/random/boot_id), so peers on this host are not"
                    + " recognized";
        }
        int file = SharedMemory.create("sluice-probe".getBytes(StandardCharsets.US_ASCII), 4096, false, false);
        if (file < 0) {
            return "the kernel refuses anonymous shared memory (memfd_create): " + Errno.message(-file)
                    + SharedFiles.advice(-file);
        }
        int sealed = SharedMemory.seal(file, true);
        Sockets.close(file);
        return sealed == 0
                ? null
                : "the kernel cannot seal shared memory (Linux 5.1 or later is needed): " + Errno.message(-sealed);
    }

    @Override
    public Transport open(EngineOptions options) {
        String unavailable = status().unavailable();
        if (unavailable != null) {
            throw new TransportUnavailableException(unavailable);
        }
        return new ShmTransport(ShmOptions.of(options));
    }
}
