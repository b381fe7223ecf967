package io.sluice.cuda;

import io.sluice.engine.SluiceException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaMemory;
import io.sluice.jni.Sockets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An allocation of a peer's, mapped once for each GPU of this process that is to reach it. {@link #map} runs on the mapping thread,
 * {@link #unmap} after it on the one for releases, all else on the loop's.
 */
final class PeerAllocation {
    private static final int NONE = -1;
    private static final int INVALID_HANDLE = -400;

    private final MemoryKeys keys;
    private final Gpus gpus;
    // of this process: its memory is reached by its address
    private final @Nullable DeviceRegistration local;
    private final long[] addresses;
    private final @Nullable CudaException[] refusals;
    private final boolean[] asked;
    private int descriptor = NONE;
    private int uses;
    private int preferred = NONE;
    private int tasks;
    private @Nullable CudaRemoteKey asking;
    private boolean gone;
    // this process made the handle that a peer has imported: its own registration of that memory
    private volatile @Nullable DeviceRegistration source;

    // the mapping thread's, then that for releases
    private final List<Runnable> undo = new ArrayList<>();

    PeerAllocation(MemoryKeys keys, Gpus gpus, @Nullable DeviceRegistration local) {
        this.keys = keys;
        this.gpus = gpus;
        this.local = local;
        this.addresses = new long[gpus.count()];
        this.refusals = new @Nullable CudaException[gpus.count()];
        this.asked = new boolean[gpus.count()];
    }

    MemoryKeys keys() {
        return keys;
    }

    /** Whether its owner has not freed it, as far as this process knows. */
    boolean isAlive() {
        DeviceRegistration here = local == null ? source : local;
        return here == null || here.isAlive();
    }

    boolean needsDescriptor() {
        return local == null && keys.way() == MemoryKeys.Way.DESCRIPTOR && descriptor == NONE && !gone;
    }

    /** An attachment that could ask for the descriptor; false if another has. */
    boolean askDescriptor(CudaRemoteKey by) {
        CudaRemoteKey before = asking;
        if (before != null && !before.hasEnded()) {
            return false;
        }
        asking = by;
        return true;
    }

    /** The target has it no more. */
    void gone() {
        gone = true;
    }

    /** Why no GPU has it mapped. */
    SluiceException firstRefusal() {
        for (CudaException each : refusals) {
            if (each != null) {
                return each;
            }
        }
        return new StaleDescriptorException("the peer has freed the memory of the region");
    }

    /** Takes a descriptor over. */
    void descriptor(int received) {
        descriptor = received;
    }

    // ---- the loop ----

    /** The GPU to use where the local side names none; −1 before one has it mapped. */
    int preferred() {
        return preferred;
    }

    boolean isMapped(int ordinal) {
        return addresses[ordinal] != 0;
    }

    long address(int ordinal) {
        return addresses[ordinal];
    }

    @Nullable
    CudaException refusal(int ordinal) {
        return refusals[ordinal];
    }

    /** Whether it is to be mapped for a GPU for the first time. */
    boolean ask(int ordinal) {
        boolean first = !asked[ordinal];
        asked[ordinal] = true;
        tasks += first ? 1 : 0;
        return first;
    }

    boolean hasTasks() {
        return tasks > 0;
    }

    void mapped(int ordinal, long address) {
        tasks--;
        addresses[ordinal] = address;
        if (preferred == NONE || gpus.ordinal(keys.gpu()) == ordinal) {
            preferred = ordinal;
        }
    }

    void refused(int ordinal, CudaException why) {
        tasks--;
        refusals[ordinal] = why;
    }

    void use() {
        uses++;
    }

    /** True if it was the last use. */
    boolean leave() {
        return --uses == 0;
    }

    boolean isUsed() {
        return uses > 0;
    }

    // ---- the threads that may block ----

    /** Where a GPU sees it. */
    long map(int ordinal) {
        Gpu gpu = gpus.open(ordinal);
        DeviceRegistration here = local;
        if (here != null) {
            return mapLocal(gpu, here);
        }
        return keys.way() == MemoryKeys.Way.DESCRIPTOR ? mapDescriptor(gpu, descriptor) : mapHandle(gpu, keys.handle());
    }

    private long mapLocal(Gpu gpu, DeviceRegistration here) {
        if (gpu.ordinal() == here.gpu().ordinal()) {
            return here.base();
        }
        if (here.way() == MemoryKeys.Way.DESCRIPTOR) {
            try (SharedDescriptor shared = here.descriptor()) {
                return mapDescriptor(gpu, shared.number());
            }
        }
        if (here.isImported()) {
            return mapHandle(gpu, here.handle());
        }
        if (here.way() == MemoryKeys.Way.NONE) {
            // access of peers covers neither pools nor the virtual-memory API; a kernel would fault the process
            throw new CudaException(
                    "memory of a pool, without a handle type or of several allocations is reached by its own GPU alone",
                    CudaException.NOT_SUPPORTED);
        }
        CudaException.check(
                CudaDevice.enablePeer(
                        gpu.device(), gpus.open(here.gpu().ordinal()).device()),
                gpu.id() + " does not reach " + keys.gpu());
        return here.base();
    }

    private long mapDescriptor(Gpu gpu, int opened) {
        long address = CudaException.check(
                CudaMemory.importDescriptor(gpu.device(), opened, keys.allocationBytes()),
                gpu.id() + " cannot map memory of " + keys.gpu());
        undo.add(() -> CudaMemory.free(gpu.device(), address, keys.allocationBytes()));
        return address;
    }

    private long mapHandle(Gpu gpu, byte[] bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = arena.allocate(CudaMemory.IPC_HANDLE_BYTES, Long.BYTES);
            MemorySegment.copy(bytes, 0, handle, ValueLayout.JAVA_BYTE, 0, CudaMemory.IPC_HANDLE_BYTES);
            long address = CudaMemory.ipcOpen(gpu.device(), handle.address());
            if (address == CudaException.OWN_HANDLE) {
                return mapOwn(gpu, bytes);
            }
            CudaException.check(address, gpu.id() + " cannot map memory of " + keys.gpu());
            undo.add(() -> CudaMemory.ipcClose(gpu.device(), address));
            // what is less than the driver's granule lies in a block with others, which is mapped as a whole
            if (!MemoryFacts.of(address).contains(address, keys.allocationBytes())) {
                throw new CudaException("a handle opens other memory than the peer says", INVALID_HANDLE);
            }
            return address;
        }
    }

    /** The peer has imported memory of this process, where a handle does not open: its address is used. */
    private long mapOwn(Gpu gpu, byte[] handle) {
        DeviceRegistration own = DeviceRegistration.ofHandle(handle);
        if (own == null || own.allocationBytes() < keys.allocationBytes()) {
            throw new CudaException(
                    "the peer has imported memory of this process, which reaches it by its address alone, and only as"
                            + " long as it has registered a region of it",
                    CudaException.OWN_HANDLE);
        }
        source = own;
        return mapLocal(gpu, own);
    }

    /** Unmaps it everywhere. */
    void unmap() {
        undo.forEach(Runnable::run);
        undo.clear();
        if (descriptor != NONE) {
            Sockets.close(descriptor);
            descriptor = NONE;
        }
    }
}
