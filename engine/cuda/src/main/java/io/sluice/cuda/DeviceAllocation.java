package io.sluice.cuda;

import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.transport.AllocatedMemory;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaMemory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Memory of a GPU that the engine has made: it can be exported as a descriptor. */
final class DeviceAllocation implements AllocatedMemory {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceAllocation.class);

    private final GpuMetrics metrics;
    // its own, as the memory may outlive the engine
    private final long device;
    private final long address;
    private final long bytes;
    private final AtomicBoolean open = new AtomicBoolean(true);
    private final RegionMemory memory;
    private final DeviceRegistration registration;

    private DeviceAllocation(Gpu gpu, PinnedRings rings, long device, long address, long bytes, long length) {
        this.metrics = gpu.metrics();
        this.device = device;
        this.address = address;
        this.bytes = bytes;
        this.memory = RegionMemory.device(MemoryKind.CUDA, gpu.id(), address, length, open::get);
        this.registration = DeviceRegistration.of(memory, rings);
        metrics.allocated(bytes);
    }

    /** Makes it, zeroed. The caller is inside the GPUs. */
    static DeviceAllocation make(PinnedRings rings, String id, long length) {
        Gpus gpus = rings.gpus();
        int ordinal = gpus.ordinal(id);
        if (ordinal < 0) {
            throw new RegistrationException("this process sees no GPU " + id + "; it sees " + gpus.all());
        }
        try {
            Gpu gpu = gpus.open(ordinal);
            long device = CudaException.check(CudaDevice.open(ordinal), "cannot open " + id);
            try {
                return make(rings, gpu, device, length);
            } catch (RuntimeException | Error e) {
                CudaDevice.close(device);
                throw e;
            }
        } catch (CudaException e) {
            throw new RegistrationException(String.valueOf(e.getMessage()), e);
        }
    }

    private static DeviceAllocation make(PinnedRings rings, Gpu gpu, long device, long length) {
        String id = gpu.id();
        long granule = CudaException.check(CudaMemory.granularity(device), "no memory of " + id);
        if (length > Long.MAX_VALUE - granule) {
            throw new RegistrationException(id + " has no " + length + " bytes");
        }
        long bytes = (length + granule - 1) / granule * granule;
        long address =
                CudaException.check(CudaMemory.allocate(device, bytes), "cannot allocate " + bytes + " bytes of " + id);
        boolean isWritten = false;
        try {
            isWritten = !gpu.zero(address, bytes);
            if (isWritten) {
                throw new RegistrationException(
                        id + " does not fill memory: is it held up by the work of another program?");
            }
            return new DeviceAllocation(gpu, rings, device, address, bytes, length);
        } catch (RuntimeException | Error e) {
            // what the GPU may still write to stays allocated
            if (!isWritten) {
                CudaMemory.free(device, address, bytes);
            }
            throw e;
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
        int freed = CudaMemory.free(device, address, bytes);
        if (freed < 0) {
            LOG.warn(
                    "memory stays allocated",
                    new CudaException("cannot free " + bytes + " bytes of " + metrics.device(), freed));
            return;
        }
        metrics.allocated(-bytes);
        CudaDevice.close(device);
    }
}
