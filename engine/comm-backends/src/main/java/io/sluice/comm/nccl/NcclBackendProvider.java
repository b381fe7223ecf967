package io.sluice.comm.nccl;

import io.sluice.comm.rounds.RoundBackends;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommBackendProvider;
import io.sluice.experts.backend.CommSettings;
import java.util.concurrent.CompletableFuture;

/**
 * Opens back ends over NCCL 2.18 or newer, {@code nccl}. The library is that of the system property {@code
 * sluice.nccl.library}, else of the variable {@code SLUICE_NCCL_LIBRARY}, else {@code libnccl.so.2}. Each rank has a GPU of
 * its own.
 */
public final class NcclBackendProvider implements CommBackendProvider {
    /** The name by which it is chosen. */
    public static final String NAME = "nccl";

    private static final String PROPERTY = "sluice.nccl.library";
    private static final String VARIABLE = "SLUICE_NCCL_LIBRARY";
    private static final String DEFAULT = "libnccl.so.2";

    private final String file;

    /** Creates a provider of the library that the process's settings name. */
    public NcclBackendProvider() {
        this(libraryFile());
    }

    /** The library that the process's settings name. */
    static String libraryFile() {
        return System.getProperty(PROPERTY, System.getenv().getOrDefault(VARIABLE, DEFAULT));
    }

    /**
     * Creates a provider.
     *
     * @param file the library's path or name
     */
    public NcclBackendProvider(String file) {
        this.file = file;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public byte[] uniqueId() {
        return NcclLibrary.open(file).uniqueId();
    }

    @Override
    public CompletableFuture<CommBackend> open(CommSettings settings) {
        return RoundBackends.open(NAME, settings.team(), NcclExchange.termsBytes(), () -> {
            NcclLibrary library = NcclLibrary.open(file);
            int rank = settings.team().rank();
            int ranks = settings.team().size();
            return library.hasWindows()
                    ? new NcclWindowExchange(library, settings.uniqueId(), rank, ranks)
                    : new NcclExchange(library, settings.uniqueId(), rank, ranks);
        });
    }
}
