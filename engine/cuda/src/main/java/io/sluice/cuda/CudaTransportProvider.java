package io.sluice.cuda;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransportStatus;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportProvider;
import io.sluice.jni.CudaDevice;
import io.sluice.jni.NativeLibrary;
import java.util.stream.IntStream;

/**
 * Finds out whether this process sees a GPU and the driver for it. The system property {@code sluice.cuda.library} names another file
 * than {@code libcuda.so.1}.
 */
public final class CudaTransportProvider implements TransportProvider {
    static final String NAME = "cuda";
    // after all that carry memory of the host
    private static final int PREFERENCE = -10;

    /** For the service loader. */
    public CudaTransportProvider() {}

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
        String unavailable = Driver.unavailable();
        return unavailable != null
                ? new TransportStatus(NAME, unavailable, NativeLibrary.unavailabilityCause())
                : new TransportStatus(NAME, null, null, Gpus.describe());
    }

    /** By PCI, to the nearest of the GPUs that this process sees. */
    @Override
    public long distanceTo(String adapter) {
        int count = Driver.unavailable() == null ? Math.max(0, CudaDevice.count()) : 0;
        PciTree tree = PciTree.ofMachine();
        return IntStream.range(0, count)
                .mapToLong(ordinal -> tree.distance(GpuInfo.pciAddress(ordinal), adapter))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    @Override
    public Transport open(EngineOptions options) {
        String unavailable = Driver.unavailable();
        if (unavailable != null) {
            throw new TransportUnavailableException(unavailable);
        }
        return new CudaTransport(CudaOptions.of(options));
    }
}
