package io.sluice.cuda;

import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.jni.Sockets;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The peer's regions that are attached here: each allocation is mapped once, and unmapped when its last attachment has ended and
 * nothing of it is under way. Only then is the target told. On the loop's thread.
 */
final class PeerMemory implements CudaRemoteKey.Lender {
    private static final Logger LOG = LoggerFactory.getLogger(PeerMemory.class);
    private static final int UNKNOWN = -999;

    private final EndpointContext context;
    private final CudaLoop loop;
    private final Gpus gpus;
    private final MappingThread thread;
    private final ReleaseThread releases;
    private final Map<Long, CudaRemoteKey> keys = new HashMap<>();
    private final Map<UUID, PeerAllocation> allocations = new HashMap<>();
    private final List<Preparation> preparations = new ArrayList<>();
    private final Runnable mapped;
    private final PeerLoans loans;
    private boolean closed;

    PeerMemory(
            EndpointContext context,
            CudaLoop loop,
            Gpus gpus,
            MappingThread thread,
            ReleaseThread releases,
            Runnable mapped) {
        this.context = context;
        this.loop = loop;
        this.gpus = gpus;
        this.thread = thread;
        this.releases = releases;
        this.mapped = mapped;
        this.loans = new PeerLoans(context.loop(), gpus, this::finish);
    }

    private record Preparation(List<CudaRemoteKey> keys, Consumer<@Nullable SluiceException> done) {
        boolean isOver() {
            for (CudaRemoteKey key : keys) {
                PeerAllocation allocation = key.allocation();
                if (!key.hasEnded() && (allocation.hasTasks() || allocation.needsDescriptor())) {
                    return false;
                }
            }
            return true;
        }

        @Nullable
        SluiceException error() {
            for (CudaRemoteKey key : keys) {
                PeerAllocation allocation = key.allocation();
                if (!key.hasEnded() && allocation.preferred() < 0) {
                    return allocation.firstRefusal();
                }
            }
            return null;
        }
    }

    /**
     * The key of a region that the peer offers.
     *
     * @throws MemoryNotAccessibleException if this side does not reach it
     */
    CudaRemoteKey key(long handle, RegionDescriptor descriptor, ByteBuffer bytes) {
        MemoryKeys read = MemoryKeys.read(bytes, descriptor.length());
        DeviceRegistration local = DeviceRegistration.find(read.name());
        if (local == null && read.way() == MemoryKeys.Way.NONE) {
            throw new MemoryNotAccessibleException(
                    "it is of a memory pool, was made without a handle type, or spans several allocations of the driver (PyTorch:"
                            + " PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False), so that no other process can map it");
        }
        if (local != null
                && (local.allocationBytes() != read.allocationBytes()
                        || !local.gpu().id().equals(read.gpu()))) {
            throw new ProtocolException("the peer's keys contradict this process's own memory");
        }
        if (gpus.isOutOfReach(read.gpu())) {
            gpus.warnOutOfReach(read.gpu());
            throw new MemoryNotAccessibleException(
                    "the GPUs that this engine uses have no peer access to the memory of " + read.gpu());
        }
        if (keys.containsKey(handle)) {
            throw new ProtocolException("the peer uses a handle twice");
        }
        PeerAllocation allocation =
                allocations.computeIfAbsent(read.name(), name -> new PeerAllocation(read, gpus, local));
        if (allocation.keys().allocationBytes() != read.allocationBytes()
                || allocation.keys().way() != read.way()) {
            throw new ProtocolException("the peer sent contradictory keys for one allocation");
        }
        CudaRemoteKey key = new CudaRemoteKey(handle, descriptor, read, allocation, this);
        allocation.use();
        keys.put(handle, key);
        return key;
    }

    void prepare(List<RemoteKey> attached, Consumer<@Nullable SluiceException> done) {
        List<CudaRemoteKey> prepared =
                attached.stream().map(CudaRemoteKey.class::cast).toList();
        preparations.add(new Preparation(prepared, done));
        for (CudaRemoteKey key : prepared) {
            if (key.hasEnded()) {
                continue;
            }
            if (key.allocation().needsDescriptor()) {
                askDescriptor(key);
            } else {
                mapAll(key.allocation());
            }
        }
        goOn();
    }

    private void askDescriptor(CudaRemoteKey key) {
        if (key.allocation().askDescriptor(key)) {
            context.send(CudaMessage.of(CudaMessage.WANTED, key.handle()));
        }
    }

    @Override
    public void lend(CudaRemoteKey key, int ordinal, CompletableFuture<MappedRegion> result) {
        context.loop().execute(() -> {
            if (!closed && !key.hasEnded()) {
                map(key.allocation(), ordinal);
            }
            loans.lend(key, ordinal, result);
        });
    }

    /** For each GPU that this engine uses; if there is none, for that of the memory, or the first. */
    private void mapAll(PeerAllocation allocation) {
        boolean some = false;
        for (int ordinal = 0; ordinal < gpus.count(); ordinal++) {
            if (gpus.isOpen(ordinal)) {
                some = true;
                map(allocation, ordinal);
            }
        }
        if (!some) {
            map(allocation, Math.max(0, gpus.ordinal(allocation.keys().gpu())));
        }
    }

    /** Lets it be mapped for one more GPU, unless that was tried before. */
    void map(PeerAllocation allocation, int ordinal) {
        if (!allocation.ask(ordinal)) {
            return;
        }
        try {
            thread.execute(() -> {
                try {
                    loop.openStreams(ordinal);
                    long address = allocation.map(ordinal);
                    context.loop().execute(() -> end(allocation, () -> allocation.mapped(ordinal, address)));
                } catch (CudaException e) {
                    context.loop().execute(() -> end(allocation, () -> allocation.refused(ordinal, e)));
                } catch (RuntimeException | Error e) {
                    LOG.warn("memory of a peer is not mapped", e);
                    CudaException why = new CudaException(String.valueOf(e.getMessage()), UNKNOWN);
                    context.loop().execute(() -> end(allocation, () -> allocation.refused(ordinal, why)));
                }
            });
        } catch (RejectedExecutionException closing) {
            allocation.refused(ordinal, new CudaException("the engine is closing", CudaException.DEINITIALIZED));
        }
    }

    private void end(PeerAllocation allocation, Runnable step) {
        step.run();
        if (!allocation.isUsed() && !allocation.hasTasks()) {
            unmap(allocation);
        }
        goOn();
        mapped.run();
    }

    /** Ends preparations that lack nothing any more. */
    private void goOn() {
        for (Preparation each : List.copyOf(preparations)) {
            if (each.isOver() && preparations.remove(each)) {
                each.done().accept(each.error());
            }
        }
        loans.goOn();
    }

    /** The descriptor that was wanted has come; −1: the memory is gone. It is taken over. */
    void descriptorCame(long handle, int descriptor) {
        CudaRemoteKey key = keys.get(handle);
        if (key == null || key.hasEnded() || !key.allocation().needsDescriptor()) {
            if (descriptor >= 0) {
                Sockets.close(descriptor);
            }
            return;
        }
        PeerAllocation allocation = key.allocation();
        if (descriptor < 0) {
            allocation.gone();
        } else {
            allocation.descriptor(descriptor);
            mapAll(allocation);
        }
        goOn();
    }

    /** The initiator's user has detached it. */
    void detached(CudaRemoteKey key) {
        if (key.end()) {
            finish(key);
        }
        loans.ended(key);
        if (!closed && key.allocation().needsDescriptor()) {
            // the answer to the one that asked may come no more
            keys.values().stream()
                    .filter(other -> other.allocation().equals(key.allocation()) && !other.hasEnded())
                    .findFirst()
                    .ifPresent(this::askDescriptor);
        }
        goOn();
    }

    /** The target has ended an attachment, and waits for the word that it is not used any more. */
    void ended(long handle) {
        CudaRemoteKey key = keys.get(handle);
        if (key == null) {
            context.send(CudaMessage.of(CudaMessage.RELEASED, handle));
            return;
        }
        key.oweWord();
        detached(key);
    }

    /** A key has ended, and nothing of it is under way. */
    void finish(CudaRemoteKey key) {
        PeerAllocation allocation = key.allocation();
        if (!allocation.leave()) {
            released(key);
        } else if (!allocation.hasTasks()) {
            unmap(allocation);
        }
    }

    private void unmap(PeerAllocation allocation) {
        allocations.remove(allocation.keys().name(), allocation);
        try {
            releases.execute(() -> {
                allocation.unmap();
                context.loop().execute(() -> unmapped(allocation));
            });
        } catch (RejectedExecutionException closing) {
            unmapped(allocation);
        }
    }

    private void unmapped(PeerAllocation allocation) {
        for (CudaRemoteKey key : List.copyOf(keys.values())) {
            if (key.allocation().equals(allocation)) {
                released(key);
            }
        }
    }

    private void released(CudaRemoteKey key) {
        keys.remove(key.handle());
        if (key.owesWord() && !closed) {
            context.send(CudaMessage.of(CudaMessage.RELEASED, key.handle()));
        }
    }

    /** The connection has ended. */
    void close() {
        closed = true;
        preparations.clear();
        List.copyOf(keys.values()).forEach(this::detached);
    }

    /** Whether nothing of the peer's is mapped. */
    boolean isEmpty() {
        return keys.isEmpty();
    }
}
