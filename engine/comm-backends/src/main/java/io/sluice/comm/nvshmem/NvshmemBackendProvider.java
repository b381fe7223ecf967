package io.sluice.comm.nvshmem;

import io.sluice.comm.rounds.RoundBackends;
import io.sluice.experts.BackendUnavailableException;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommBackendProvider;
import io.sluice.experts.backend.CommSettings;
import java.util.concurrent.CompletableFuture;

/**
 * Opens back ends over NVSHMEM 3, {@code nvshmem}. The host library is that of the system property {@code
 * sluice.nvshmem.library}, else of the variable {@code SLUICE_NVSHMEM_LIBRARY}, else {@code libnvshmem_host.so.3}.
 *
 * <p>A process is one rank, with a GPU of its own, and stays it: NVSHMEM is initialised by the first back end, and later ones
 * need the same ranks. Once a rank is lost, the others need new processes.
 */
public final class NvshmemBackendProvider implements CommBackendProvider {
    /** The name by which it is chosen. */
    public static final String NAME = "nvshmem";

    /** How many bytes of symmetric memory {@link NvshmemMemory} has for kernels: a whole number of 4,096; else none. */
    public static final String GPU_BYTES_PROPERTY = "sluice.nvshmem.gpu-bytes";

    private static final String PROPERTY = "sluice.nvshmem.library";
    private static final String VARIABLE = "SLUICE_NVSHMEM_LIBRARY";
    private static final String DEFAULT = "libnvshmem_host.so.3";
    private static final int GRANULE = 4096;
    // for the library's own
    private static final long MARGIN = 64L << 20;
    // of all areas, for as many ranks as one host has GPUs and more
    private static final long AREAS = 64L << 20;

    private final String file;

    /** Creates a provider of the library that the process's settings name. */
    public NvshmemBackendProvider() {
        this(System.getProperty(PROPERTY, System.getenv().getOrDefault(VARIABLE, DEFAULT)));
    }

    /**
     * Creates a provider.
     *
     * @param file the host library's path or name
     */
    public NvshmemBackendProvider(String file) {
        this.file = file;
    }

    private static long gpuBytes() {
        long bytes = Long.getLong(GPU_BYTES_PROPERTY, 0);
        if (bytes < 0 || bytes % GRANULE != 0) {
            throw new BackendUnavailableException(
                    GPU_BYTES_PROPERTY + " is a whole number of " + GRANULE + ", not " + bytes);
        }
        return bytes;
    }

    private NvshmemLibrary library() {
        return NvshmemLibrary.open(file, MARGIN + AREAS + gpuBytes());
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public byte[] uniqueId() {
        return library().uniqueId();
    }

    @Override
    public CompletableFuture<CommBackend> open(CommSettings settings) {
        return RoundBackends.open(
                NAME,
                settings.team(),
                NvshmemExchange.termsBytes(),
                () -> new NvshmemExchange(
                        library(),
                        settings.uniqueId(),
                        settings.team().rank(),
                        settings.team().size(),
                        gpuBytes()));
    }
}
