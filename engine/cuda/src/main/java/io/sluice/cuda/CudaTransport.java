package io.sluice.cuda;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.DeviceMetrics;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.transport.AllocatedMemory;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.MemorySupport;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.SecretSource;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The transport of one engine. Of the host's memory it is only the local side. */
final class CudaTransport implements Transport {
    private static final long LARGEST_MESSAGE = 1L << 30;
    private static final long PREFERRED_CHUNK = 64L << 20;
    private static final String UNMAPPED = "not mapped";
    private static final Set<MemoryKind> GPU = Set.of(MemoryKind.CUDA);
    private static final Set<MemoryKind> HOST = Set.of(MemoryKind.HOST);
    private static final Set<MemoryKind> BOTH = Set.of(MemoryKind.HOST, MemoryKind.CUDA);
    // the host's is registered to be the local side
    private static final MemorySupport MEMORY = new MemorySupport(BOTH, GPU, BOTH, GPU);
    private static final Capabilities CAPABILITIES =
            new Capabilities(LARGEST_MESSAGE, true).withPreferredChunk(MemoryKind.CUDA, PREFERRED_CHUNK);

    private final CudaOptions options;
    private final Gpus gpus;
    private final Set<MemoryKind> partial;
    private final MappingThread thread = new MappingThread("sluice-cuda-mappings");
    private final MappingThread pins = new MappingThread("sluice-cuda-pins");
    private final ReleaseThread releases = new ReleaseThread();
    private final PinnedRings rings;
    private final SecretSource secrets = new SecretSource();
    private final HostIdentity host = HostIdentity.here();

    CudaTransport(CudaOptions options) {
        this.options = options;
        this.gpus = new Gpus(options.blocks());
        // where a GPU does not reach another the bytes are staged
        this.partial = gpus.reachAll() ? HOST : BOTH;
        this.rings = new PinnedRings(gpus, pins, releases, options.stagingBytes(), !options.copyEngines());
    }

    @Override
    public Capabilities capabilities() {
        return CAPABILITIES;
    }

    @Override
    public MemorySupport memory() {
        return MEMORY;
    }

    @Override
    public Set<MemoryKind> partial() {
        return partial;
    }

    @Override
    public Map<MemoryKind, Long> staged() {
        return Map.of(MemoryKind.CUDA, options.stagedChunk());
    }

    @Override
    public String reach() {
        return options.mapped() ? host.text() : UNMAPPED;
    }

    @Override
    public @Nullable String whyOutOfReach(String peer) {
        if (!options.mapped() || peer.equals(UNMAPPED)) {
            return "SLUICE_CUDA_MAPPED is false, so that memory of GPUs is not mapped by other processes";
        }
        return host.whyOutOfReach(peer);
    }

    @Override
    public AllocatedMemory allocate(long bytes, RegionOptions region) {
        return inside(() -> DeviceAllocation.make(rings, String.valueOf(region.device()), bytes));
    }

    @Override
    public RegisteredMemory register(RegionMemory memory, Set<Access> access, AtomicDomain domain) {
        return memory.isHost()
                ? new HostRegistration(memory, pins)
                : inside(() -> DeviceRegistration.of(memory, rings));
    }

    /** The engine may close meanwhile: what it has of the driver stays until the call is through. */
    private <T> T inside(Supplier<T> call) {
        if (!gpus.enter()) {
            throw new ConnectionClosedException("the engine is closed");
        }
        try {
            return call.get();
        } finally {
            gpus.leave();
        }
    }

    @Override
    public TransportLoop openLoop(EventLoop loop) {
        return new CudaLoop(loop, gpus, thread, releases, secrets, options.copyEngines());
    }

    @Override
    public List<DeviceMetrics> devices() {
        return List.copyOf(gpus.metrics());
    }

    @Override
    public void close() {
        thread.close();
        pins.close();
        releases.execute(() -> {
            // they may be inside a call of the driver for longer than is waited for
            thread.awaitEnd();
            pins.awaitEnd();
            gpus.close();
        });
        releases.close();
    }
}
