package io.sluice.cuda;

import io.sluice.engine.RegistrationException;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaMemory;
import io.sluice.jni.Sockets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An allocation of another process that is mapped here, until its last user has released it: the {@link ImportedMemory} that has
 * opened it, and each registration of its memory. Peers get the handle that opened it, since a mapping cannot be exported again. Any
 * thread.
 */
final class ImportedAllocation {
    private static final Logger LOG = LoggerFactory.getLogger(ImportedAllocation.class);
    private static final List<ImportedAllocation> OPEN = new CopyOnWriteArrayList<>();
    private static final int NONE = -1;

    private final String gpu;
    private final long device;
    private final MemoryKeys.Way way;
    private final byte[] handle;
    private final int descriptor;
    private final long base;
    private final long bytes;
    private int users = 1;

    private ImportedAllocation(
            String gpu, long device, MemoryKeys.Way way, byte[] handle, int descriptor, long base, long bytes) {
        this.gpu = gpu;
        this.device = device;
        this.way = way;
        this.handle = handle;
        this.descriptor = descriptor;
        this.base = base;
        this.bytes = bytes;
    }

    /**
     * Maps what a handle stands for.
     *
     * @param handle the driver's 64 bytes
     */
    static ImportedAllocation open(String gpu, byte[] handle) {
        long device = device(gpu);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment given = arena.allocate(CudaMemory.IPC_HANDLE_BYTES, Long.BYTES);
            MemorySegment.copy(handle, 0, given, ValueLayout.JAVA_BYTE, 0, CudaMemory.IPC_HANDLE_BYTES);
            long base = CudaMemory.ipcOpen(device, given.address());
            if (base == CudaException.OWN_HANDLE) {
                throw new RegistrationException(
                        "the handle was made by this process: register the memory by its address here");
            }
            CudaException.check(base, gpu + " does not open the handle: is it of a GPU that it reaches?");
            try {
                // of these the driver names the GPU that has opened the handle, wherever they lie
                MemoryFacts facts = MemoryFacts.of(base);
                long bytes = facts.base() + facts.bytes() - base;
                return opened(new ImportedAllocation(gpu, device, MemoryKeys.Way.HANDLE, handle, NONE, base, bytes));
            } catch (RuntimeException e) {
                CudaMemory.ipcClose(device, base);
                throw e;
            }
        } catch (RuntimeException e) {
            CudaDevice.close(device);
            throw typed(e);
        }
    }

    /** Maps what a descriptor stands for, and takes the descriptor over unless that fails. */
    static ImportedAllocation open(String gpu, int descriptor, long bytes) {
        long device = device(gpu);
        try {
            long base = CudaException.check(
                    CudaMemory.importDescriptor(device, descriptor, bytes),
                    gpu + " does not open descriptor " + descriptor + " with " + bytes + " bytes");
            try {
                checkIsOn(gpu, base);
            } catch (RuntimeException e) {
                CudaMemory.free(device, base, bytes);
                throw e;
            }
            return opened(new ImportedAllocation(
                    gpu, device, MemoryKeys.Way.DESCRIPTOR, new byte[0], descriptor, base, bytes));
        } catch (RuntimeException e) {
            CudaDevice.close(device);
            throw typed(e);
        }
    }

    /** Refuses memory of another GPU. */
    private static void checkIsOn(String gpu, long base) {
        int ordinal = MemoryFacts.of(base).ordinal();
        try (Gpus gpus = new Gpus(1)) {
            if (ordinal != gpus.ordinal(gpu)) {
                String owner = ordinal < 0 ? "a GPU that this process does not see" : gpus.id(ordinal);
                throw new RegistrationException("the memory lies on " + owner + ", not on " + gpu);
            }
        }
    }

    private static ImportedAllocation opened(ImportedAllocation made) {
        OPEN.add(made);
        return made;
    }

    private static RuntimeException typed(RuntimeException error) {
        return error instanceof CudaException
                ? new RegistrationException(String.valueOf(error.getMessage()), error)
                : error;
    }

    private static long device(String gpu) {
        String unavailable = Driver.unavailable();
        if (unavailable != null) {
            throw new TransportUnavailableException(unavailable);
        }
        try (Gpus gpus = new Gpus(1)) {
            int ordinal = gpus.ordinal(gpu);
            if (ordinal < 0) {
                throw new RegistrationException("this process sees no GPU " + gpu + "; it sees " + gpus.all());
            }
            return CudaException.check(CudaDevice.open(ordinal), "cannot open " + gpu);
        } catch (CudaException e) {
            throw typed(e);
        }
    }

    /** The one that an address lies in, with one user more; null if there is none. */
    static @Nullable ImportedAllocation use(long address) {
        for (ImportedAllocation each : OPEN) {
            if (address >= each.base && address - each.base < each.bytes && each.retain()) {
                return each;
            }
        }
        return null;
    }

    private synchronized boolean retain() {
        if (users == 0) {
            return false;
        }
        users++;
        return true;
    }

    /** One user less. The last unmaps it. */
    void release() {
        synchronized (this) {
            if (--users > 0) {
                return;
            }
        }
        OPEN.remove(this);
        int unmapped =
                way == MemoryKeys.Way.HANDLE ? CudaMemory.ipcClose(device, base) : CudaMemory.free(device, base, bytes);
        if (unmapped < 0) {
            LOG.warn("memory stays mapped", new CudaException("cannot unmap imported memory of " + gpu, unmapped));
        }
        if (descriptor != NONE) {
            Sockets.close(descriptor);
        }
        CudaDevice.close(device);
    }

    /** How another process reaches it. */
    MemoryKeys.Way way() {
        return way;
    }

    /** The handle that it was opened by; empty for a descriptor. */
    byte[] handle() {
        return handle;
    }

    /** The descriptor that it was opened by; this object stays its owner. */
    SharedDescriptor descriptor() {
        return new SharedDescriptor(descriptor, false);
    }

    /** Where it begins here. */
    long base() {
        return base;
    }

    /** How long it is, as far as the driver says. */
    long bytes() {
        return bytes;
    }
}
