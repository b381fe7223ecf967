package io.sluice.cuda;

import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.transport.AllocatedMemory;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.jni.CudaMemory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Memory of a GPU that the engine has made: it can be exported as a descriptor. */
final class DeviceAllocation implements AllocatedMemory {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceAllocation.class);

    private final Gpu gpu;
    private final long address;
    private final long bytes;
    private final AtomicBoolean open = new AtomicBoolean(true);
    private final RegionMemory memory;
    private final DeviceRegistration registration;

    private DeviceAllocation(Gpu gpu, PinnedRings rings, long address, long bytes, long length) {
        this.gpu = gpu;
        this.address = address;
        this.bytes = bytes;
        this.memory = RegionMemory.device(MemoryKind.CUDA, gpu.id(), address, length, open::get);
        this.registration = DeviceRegistration.of(memory, rings);
        gpu.metrics().allocated(bytes);
    }

    /** Makes it, zeroed. */
    static DeviceAllocation make(PinnedRings rings, String id, long length) {
        Gpus gpus = rings.gpus();
        int ordinal = gpus.ordinal(id);
        if (ordinal < 0) {
            throw new RegistrationException("this process sees no GPU " + id + "; it sees " + gpus.all());
        }
        try {
            Gpu gpu = gpus.open(ordinal);
            long granule = CudaException.check(CudaMemory.granularity(gpu.device()), "no memory of " + id);
            if (length > Long.MAX_VALUE - granule) {
                throw new RegistrationException(id + " has no " + length + " bytes");
            }
            long bytes = (length + granule - 1) / granule * granule;
            long address = CudaException.check(
                    CudaMemory.allocate(gpu.device(), bytes), "cannot allocate " + bytes + " bytes of " + id);
            boolean isWritten = false;
            try {
                isWritten = !gpu.zero(address, bytes);
                if (isWritten) {
                    throw new RegistrationException(
                            id + " does not fill memory: is it held up by the work of another program?");
                }
                return new DeviceAllocation(gpu, rings, address, bytes, length);
            } catch (RuntimeException | Error e) {
                // what the GPU may still write to stays allocated
                if (!isWritten) {
                    CudaMemory.free(gpu.device(), address, bytes);
                }
                throw e;
            }
        } catch (CudaException e) {
            throw new RegistrationException(String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public RegionMemory memory() {
        return memory;
    }

    @Override
    public RegisteredMemory registration() {
        return registration;
    }

    @Override
    public void close() {
        open.set(false);
        int freed = CudaMemory.free(gpu.device(), address, bytes);
        if (freed >= 0) {
            gpu.metrics().allocated(-bytes);
        } else {
            LOG.warn(
                    "memory stays allocated",
                    new CudaException("cannot free " + bytes + " bytes of " + gpu.id(), freed));
        }
    }
}
