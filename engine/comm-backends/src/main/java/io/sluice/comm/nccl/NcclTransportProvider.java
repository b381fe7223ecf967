package io.sluice.comm.nccl;

import io.sluice.comm.rounds.Gpu;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportStatus;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportProvider;
import io.sluice.jni.NativeLibrary;
import java.util.List;
import java.util.function.Supplier;

/**
 * Finds out whether NCCL can be used here, and opens the transport {@code nccl}. The library is that of {@link NcclBackendProvider}.
 * Only engines whose options name the transport have it.
 */
public final class NcclTransportProvider implements TransportProvider {
    static final String NAME = "nccl";
    // never compared: it is chosen by its name alone
    private static final int PREFERENCE = -20;

    private final Supplier<String> file;

    /** For the service loader. */
    public NcclTransportProvider() {
        this(NcclBackendProvider::libraryFile);
    }

    /** With the library's path or name. */
    NcclTransportProvider(Supplier<String> file) {
        this.file = file;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int preference() {
        return PREFERENCE;
    }

    @Override
    public boolean byNameOnly() {
        return true;
    }

    /** Tries the library without opening it for good, and leaves the variables as they are that it is to see. */
    @Override
    public TransportStatus status() {
        Throwable missing = NativeLibrary.unavailabilityCause();
        if (missing != null) {
            return new TransportStatus(NAME, String.valueOf(missing.getMessage()), missing);
        }
        try {
            Gpu.requireAny();
            String library = file.get();
            String unusable = NcclLibrary.whyUnusable(library);
            return unusable != null
                    ? new TransportStatus(NAME, unusable, null)
                    : new TransportStatus(NAME, null, null, List.of(NcclLibrary.describe(library)));
        } catch (RuntimeException | LinkageError e) {
            return new TransportStatus(NAME, reason(e), e);
        }
    }

    @Override
    public Transport open(EngineOptions options) {
        // a setting without sense is the caller's mistake, and no lack of this machine's
        int gpu = NcclOptions.of(options).gpu();
        try {
            return new NcclTransport(NcclLibrary.open(file.get()), gpu);
        } catch (RuntimeException | LinkageError e) {
            throw new TransportUnavailableException(reason(e), e);
        }
    }

    private static String reason(Throwable e) {
        return e instanceof SluiceException ? String.valueOf(e.getMessage()) : "NCCL cannot be used: " + e;
    }
}
