package io.sluice.cuda;

import io.sluice.engine.ConnectionPath;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.transport.AttachedPath;
import io.sluice.engine.transport.LeasedRegion;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A region as kernels of one GPU reach it: this engine's, or one that a peer on this host has mapped for it. It has an address as long
 * as it is open. When the region is closed, here or by the peer, or the connection ends, it is closed as well: works that {@linkplain
 * GpuWork.Builder#uses(MappedRegion) use} it are refused from then on, and {@link MemoryRegion#close()} of its owner completes only
 * after those that were submitted are done. So a kernel never runs on memory that is gone, if its work says what it uses. Any thread.
 */
public final class MappedRegion implements AutoCloseable {
    private final String gpu;
    private final long address;
    private final long length;
    private final StreamUses uses;

    /** Ends once the launches that use it are done; the last argument may block. */
    MappedRegion(String gpu, long address, long length, String what, Runnable giveBack) {
        this.gpu = gpu;
        this.address = address;
        this.length = length;
        this.uses = new StreamUses(what, giveBack);
    }

    /**
     * Gives the address of a region of this process, for kernels of its own GPU.
     *
     * @param region of GPU memory
     * @return the region, which stays open until this is closed and the work that uses it is done
     * @throws MemoryNotAccessibleException if it is not memory of a GPU
     * @throws RegionClosedException if it is closed, or its memory was freed
     * @throws IllegalArgumentException if it is no region of a Sluice engine
     */
    public static MappedRegion of(MemoryRegion region) {
        return leased(region, MappedRegion::close);
    }

    /**
     * Gives the address of a region of this process as {@link #of(MemoryRegion)} does, but stays open when the region begins to close:
     * for calls of several parts, which end then at a time of their own.
     *
     * @param region of GPU memory; its close completes once this is closed and the work that uses it is done
     * @param whenClosing run when the region begins to close: this should then be closed soon. It must not block, and may run more than
     *     once, also inside this call
     * @return the region, open until this is closed
     * @throws MemoryNotAccessibleException as {@link #of(MemoryRegion)}
     * @throws RegionClosedException as {@link #of(MemoryRegion)}
     * @throws IllegalArgumentException as {@link #of(MemoryRegion)}
     */
    public static MappedRegion of(MemoryRegion region, Runnable whenClosing) {
        return leased(region, made -> whenClosing.run());
    }

    private static MappedRegion leased(MemoryRegion region, Consumer<MappedRegion> closing) {
        String gpu = region.memory().device();
        if (region.kind() != MemoryKind.CUDA || gpu == null) {
            throw new MemoryNotAccessibleException(
                    "kernels reach regions of GPU memory, and pinned buffers, not " + region);
        }
        if (!(region instanceof LeasedRegion leased)) {
            throw new IllegalArgumentException("not a region of a Sluice engine: " + region);
        }
        // ended by another thread, perhaps before the lease is known here
        CompletableFuture<Runnable> lease = new CompletableFuture<>();
        MappedRegion made = new MappedRegion(
                gpu,
                region.memory().address(),
                region.length(),
                "a region of " + gpu,
                () -> lease.join().run());
        Runnable taken = leased.lease(() -> closing.accept(made));
        if (taken == null) {
            lease.complete(() -> {});
            made.close();
            throw new RegionClosedException(region + " is closed, or its memory was freed");
        }
        lease.complete(taken);
        return made;
    }

    /**
     * Maps a peer's region for kernels of a GPU of this process. The kernels reach it over NVLink or PCIe; its
     * access rights are not checked. System-wide atomic operations work where {@link GpuInfo.LinkKind#NVLINK} joins the two.
     *
     * @param region attached over the path {@code cuda}
     * @param gpu the stable id of the GPU whose kernels are to reach it
     * @return completes on the connection's loop when it is mapped, which takes the driver milliseconds if the engine has not used the
     *     GPU before; or with {@link MemoryNotAccessibleException} if the region is reached over another path, with that and its
     *     reason; {@link CudaException} if the GPU does not reach it; {@link io.sluice.engine.StaleDescriptorException} if it is no
     *     longer attached; {@link IllegalArgumentException} if this process does not see the GPU
     */
    public static CompletableFuture<MappedRegion> of(RemoteRegion region, String gpu) {
        ConnectionPath path;
        try {
            path = region.path(MemoryKind.CUDA);
        } catch (MemoryNotAccessibleException e) {
            return CompletableFuture.failedFuture(e);
        }
        if (!(path instanceof AttachedPath attached) || !(attached.key() instanceof CudaRemoteKey key)) {
            return CompletableFuture.failedFuture(
                    new MemoryNotAccessibleException("kernels reach regions over the path cuda alone, and " + region
                            + " is reached over " + path.transport() + ": " + path.reason()));
        }
        int ordinal = Driver.ordinal(gpu);
        if (ordinal < 0) {
            return CompletableFuture.failedFuture(new IllegalArgumentException("this process sees no GPU " + gpu));
        }
        CompletableFuture<MappedRegion> result = new CompletableFuture<>();
        key.lender().lend(key, ordinal, result);
        return result;
    }

    /**
     * Returns the GPU whose kernels reach it.
     *
     * @return its stable id
     */
    public String device() {
        return gpu;
    }

    /**
     * Returns where they see its first byte.
     *
     * @return the address, which means nothing on another GPU or in another process
     */
    public long address() {
        return address;
    }

    /**
     * Returns how long it is.
     *
     * @return bytes
     */
    public long length() {
        return length;
    }

    /**
     * Returns whether works that use it are taken.
     *
     * @return false once this or the region was closed, or the connection has ended
     */
    public boolean isOpen() {
        return uses.life().isOpen();
    }

    StreamUses uses() {
        return uses;
    }

    /** Refuses further launches that use it, and lets the region go once those that were submitted are done; returns before that. */
    @Override
    public void close() {
        uses.close();
    }

    /**
     * Returns when no work that uses it is under way.
     *
     * @return completes after {@link #close}, or after the region was closed
     */
    public CompletableFuture<Void> released() {
        return uses.released();
    }

    @Override
    public String toString() {
        return uses.life().what();
    }
}
