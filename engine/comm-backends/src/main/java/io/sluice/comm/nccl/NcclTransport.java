package io.sluice.comm.nccl;

import io.sluice.comm.rounds.Gpu;
import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.transport.AllocatedMemory;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.MemorySupport;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The transport of one engine: it copies between memory of one GPU here and one GPU of each peer. */
final class NcclTransport implements Transport {
    // what is under way cannot be stopped, and a group without progress ends the connection
    private static final long LARGEST_MESSAGE = 64L << 20;
    private static final long PREFERRED_CHUNK = 16L << 20;
    private static final String COMPLEMENT = "cuda";
    private static final Set<MemoryKind> GPU = Set.of(MemoryKind.CUDA);
    // the transport `cuda` allocates for it: then this one goes before it where the options say so
    private static final MemorySupport MEMORY = new MemorySupport(GPU, GPU, GPU, Set.of());
    private static final Capabilities CAPABILITIES =
            new Capabilities(LARGEST_MESSAGE, false).withPreferredChunk(MemoryKind.CUDA, PREFERRED_CHUNK);

    private final NcclLibrary library;
    private final int ordinal;
    private final String device;
    private final UniqueIds ids;

    NcclTransport(NcclLibrary library, int ordinal) {
        this.library = library;
        this.ordinal = ordinal;
        this.device = Gpu.id(ordinal);
        this.ids = new UniqueIds(library);
    }

    @Override
    public Capabilities capabilities() {
        return CAPABILITIES;
    }

    @Override
    public MemorySupport memory() {
        return MEMORY;
    }

    /** Of the engine's GPUs it has one. */
    @Override
    public Set<MemoryKind> partial() {
        return GPU;
    }

    /** Allocates, and has the words of regions. */
    @Override
    public String complement() {
        return COMPLEMENT;
    }

    @Override
    public String reach() {
        return device;
    }

    @Override
    public @Nullable String whyOutOfReach(String peer) {
        return NcclOffer.whyOutOfReach(device, peer);
    }

    @Override
    public @Nullable AllocatedMemory allocate(long bytes, RegionOptions options) {
        return null;
    }

    @Override
    public RegisteredMemory register(RegionMemory memory, Set<Access> access, AtomicDomain domain) {
        return NcclMemory.of(memory, device);
    }

    @Override
    public TransportLoop openLoop(EventLoop loop) {
        return new NcclLoop(loop, library, ids, ordinal, device);
    }

    @Override
    public void close() {
        ids.close();
    }
}
