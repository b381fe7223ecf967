package io.sluice.comm.nccl;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportStatus;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportProvider;
import java.util.List;

/**
 * Finds out whether NCCL can be used here, and opens the transport {@code nccl}. The library is that of {@link NcclBackendProvider}.
 * Only engines whose options name the transport have it.
 */
public final class NcclTransportProvider implements TransportProvider {
    static final String NAME = "nccl";
    // never compared: it is chosen by its name alone
    private static final int PREFERENCE = -20;

    /** For the service loader. */
    public NcclTransportProvider() {}

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

    @Override
    public TransportStatus status() {
        try {
            NcclLibrary library = NcclLibrary.open(NcclBackendProvider.libraryFile());
            return new TransportStatus(NAME, null, null, List.of("NCCL " + library.versionText()));
        } catch (SluiceException | LinkageError e) {
            return new TransportStatus(NAME, String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public Transport open(EngineOptions options) {
        try {
            return new NcclTransport(
                    NcclLibrary.open(NcclBackendProvider.libraryFile()),
                    NcclOptions.of(options).gpu());
        } catch (SluiceException e) {
            throw new TransportUnavailableException(String.valueOf(e.getMessage()), e);
        }
    }
}
