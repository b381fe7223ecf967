package io.sluice.cuda;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.DeviceWords;
import io.sluice.engine.transport.DmaBufferMemory;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.StagedMemory;
import io.sluice.engine.transport.StagingRing;
import io.sluice.jni.CudaMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory of a GPU that is a region. Its name cannot be guessed, and only those learn it who attach the region: another engine of this
 * process finds the memory by it, where an address that a peer names would not be trusted. Any thread.
 */
final class DeviceRegistration implements StagedMemory, DeviceWords, DmaBufferMemory {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceRegistration.class);
    private static final Map<UUID, DeviceRegistration> OF_PROCESS = new ConcurrentHashMap<>();

    private final UUID name = UUID.randomUUID();
    private final RegionMemory memory;
    private final Gpu gpu;
    private final PinnedRings rings;
    private final GpuWords words;
    private final List<MemoryFacts> allocations;
    // of another process; null for memory of this one
    private final @Nullable ImportedAllocation imported;
    private volatile boolean closed;
    // a word's access has failed while the GPU did not answer
    private volatile boolean unsure;

    private DeviceRegistration(
            RegionMemory memory,
            Gpu gpu,
            PinnedRings rings,
            List<MemoryFacts> allocations,
            @Nullable ImportedAllocation imported) {
        this.memory = memory;
        this.gpu = gpu;
        this.rings = rings;
        this.words = gpu.words();
        this.allocations = List.copyOf(allocations);
        this.imported = imported;
        OF_PROCESS.put(name, this);
    }

    /**
     * Registers memory that the driver confirms. The caller is inside the GPUs.
     *
     * @throws RegistrationException if it does not, or it is of a kind that cannot be used
     */
    static DeviceRegistration of(RegionMemory memory, PinnedRings rings) {
        Gpus gpus = rings.gpus();
        String id = String.valueOf(memory.device());
        int ordinal = gpus.ordinal(id);
        if (ordinal < 0) {
            throw new RegistrationException("this process sees no GPU " + id + "; it sees " + gpus.all());
        }
        List<MemoryFacts> allocations = MemoryFacts.ofAll(memory.address(), memory.length());
        MemoryFacts facts = allocations.getFirst();
        if (facts.kind() == CudaMemory.KIND_MANAGED) {
            throw new RegistrationException(
                    "managed memory moves between host and GPU, and cannot be a region: allocate it by"
                            + " cudaMalloc or the engine's allocate");
        }
        if (facts.kind() != CudaMemory.KIND_DEVICE) {
            throw new RegistrationException(
                    "the driver knows no memory of a GPU at 0x%x: was it freed?".formatted(memory.address()));
        }
        if (facts.ordinal() != ordinal) {
            throw new RegistrationException(memory + " lies on " + gpus.id(facts.ordinal()));
        }
        long bytes = length(allocations);
        if (memory.address() - facts.base() > bytes - memory.length()) {
            throw new RegistrationException("%s leave the allocation that 0x%x is in, which has %d bytes from 0x%x on"
                    .formatted(memory, memory.address(), bytes, facts.base()));
        }
        if (allocations.size() > 1) {
            LOG.info(
                    "{} spans {} allocations of the driver, as PyTorch's expandable segments do, so that no other process can"
                            + " map it: use PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False",
                    memory,
                    allocations.size());
        }
        ImportedAllocation imported = ImportedAllocation.use(memory.address());
        try {
            return new DeviceRegistration(memory, gpus.open(ordinal), rings, allocations, imported);
        } catch (CudaException e) {
            if (imported != null) {
                imported.release();
            }
            throw new RegistrationException(String.valueOf(e.getMessage()), e);
        }
    }

    private static long length(List<MemoryFacts> allocations) {
        MemoryFacts last = allocations.getLast();
        return last.base() + last.bytes() - allocations.getFirst().base();
    }

    /** Finds memory that this process has and that a handle stands for; null if it has registered none. */
    static @Nullable DeviceRegistration ofHandle(byte[] handle) {
        for (DeviceRegistration each : OF_PROCESS.values()) {
            if (each.imported == null
                    && each.way() == MemoryKeys.Way.HANDLE
                    && each.isAlive()
                    && each.isCurrent()
                    && Arrays.equals(handle, each.handle())) {
                return each;
            }
        }
        return null;
    }

    /** Finds one of this process; null if it has none of that name, or it is closed. */
    static @Nullable DeviceRegistration find(UUID name) {
        return OF_PROCESS.get(name);
    }

    UUID name() {
        return name;
    }

    Gpu gpu() {
        return gpu;
    }

    /** Whether its owner has not freed it, and it is registered. */
    boolean isAlive() {
        return !closed && memory.isAlive();
    }

    // ---- the allocation that it is in ----

    /** Where the allocation begins. */
    long base() {
        return imported == null ? allocations.getFirst().base() : imported.base();
    }

    /** How long the allocation is, or all are together. */
    long allocationBytes() {
        return imported == null ? length(allocations) : imported.bytes();
    }

    /** Whether another process owns it. */
    boolean isImported() {
        return imported != null;
    }

    /** How another process reaches it. */
    MemoryKeys.Way way() {
        if (imported != null) {
            return imported.way();
        }
        // several have no one descriptor
        return allocations.size() > 1
                ? MemoryKeys.Way.NONE
                : MemoryKeys.Way.of(allocations.getFirst().sharing());
    }

    /** The handle that another process opens, where that is the way; else empty. */
    byte[] handle() {
        if (imported != null) {
            return imported.handle();
        }
        if (way() != MemoryKeys.Way.HANDLE) {
            return new byte[0];
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment written = arena.allocate(CudaMemory.IPC_HANDLE_BYTES, Long.BYTES);
            calling(
                    () -> CudaMemory.ipcHandle(gpu.device(), base(), written.address()),
                    "no handle of memory of " + gpu.id());
            return written.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** The descriptor that another process maps, where that is the way. */
    SharedDescriptor descriptor() {
        if (imported != null) {
            return imported.descriptor();
        }
        long exported =
                calling(() -> CudaMemory.export(gpu.device(), base()), "no descriptor of memory of " + gpu.id());
        return new SharedDescriptor((int) exported, true);
    }

    /** Calls the driver with the GPU's handle: another engine of the process, which maps the memory, may do so while this one closes. */
    private long calling(LongSupplier call, String what) {
        Gpus gpus = rings.gpus();
        if (!gpus.enter()) {
            throw new CudaException(
                    "the engine that has registered " + memory + " is closed", CudaException.DEINITIALIZED);
        }
        try {
            return CudaException.check(call.getAsLong(), what);
        } finally {
            gpus.leave();
        }
    }

    /** Whether all of it is still what was registered, and nothing that was made at the same address after it. */
    @Override
    public boolean isCurrent() {
        return allocations.stream().allMatch(MemoryFacts::isCurrent);
    }

    private boolean isCurrentAt(long address) {
        for (MemoryFacts each : allocations) {
            if (each.contains(address, Long.BYTES)) {
                return each.isCurrent();
            }
        }
        return isCurrent();
    }

    // ---- through the host ----

    @Override
    public StagingRing openRing(EventLoop loop, Runnable progress) {
        return rings.open(loop, progress);
    }

    @Override
    public long address() {
        return memory.address();
    }

    // ---- for adapters ----

    @Override
    public Buffer export() {
        Gpus gpus = rings.gpus();
        if (!gpus.enter()) {
            throw new RegistrationException("the engine that has registered " + memory + " is closed");
        }
        try {
            return DmaBuffers.export(memory, gpu);
        } finally {
            gpus.leave();
        }
    }

    @Override
    public @Nullable Flush flush() {
        return DmaBuffers.flush(gpu);
    }

    @Override
    public long distanceTo(String adapter) {
        return PciTree.ofMachine().distance(GpuInfo.pciAddress(gpu.ordinal()), adapter);
    }

    // ---- words ----

    private long at(long offset) {
        if (!memory.isAlive()) {
            throw new IllegalStateException(memory + " was freed");
        }
        return memory.address() + offset;
    }

    /** As {@link #at}, for a kernel: what the driver does not know it would not refuse, but end all work of the process. */
    private long current(long offset) {
        long address = at(offset);
        try {
            if (isCurrentAt(address)) {
                return address;
            }
        } catch (CudaException e) {
            throw new IllegalStateException("the driver does not confirm " + memory, e);
        }
        throw new IllegalStateException(memory + " was freed while it is registered");
    }

    /** The GPU may carry out later what has failed. */
    private IllegalStateException unsure(IllegalStateException why) {
        unsure = true;
        return why;
    }

    @Override
    public long load(long offset) {
        try {
            return words.load(at(offset));
        } catch (IllegalStateException e) {
            throw unsure(e);
        }
    }

    @Override
    public void store(long offset, long value) {
        try {
            words.store(at(offset), value);
        } catch (IllegalStateException e) {
            throw unsure(e);
        }
    }

    @Override
    public long fetchAdd(long offset, long addend) {
        try {
            return words.fetchAdd(current(offset), addend);
        } catch (IllegalStateException e) {
            throw unsure(e);
        }
    }

    @Override
    public long compareAndSwap(long offset, long expected, long replacement) {
        try {
            return words.compareAndSwap(current(offset), expected, replacement);
        } catch (IllegalStateException e) {
            throw unsure(e);
        }
    }

    @Override
    public void copyOut(long offset, MemorySegment to) {
        try {
            words.copyOut(at(offset), to);
        } catch (IllegalStateException e) {
            throw unsure(e);
        }
    }

    /** The driver frees nothing while a kernel runs. */
    @Override
    public boolean waitsForDevice() {
        return true;
    }

    @Override
    public long lockedBytes() {
        return 0;
    }

    /**
     * Waits for what the GPU was told of the memory's words.
     *
     * @throws SluiceException if it does not answer in time and may still write to the memory, which must not be freed
     */
    @Override
    public void close() {
        closed = true;
        OF_PROCESS.remove(name);
        if (unsure && !ReleaseThread.await(words::isIdle)) {
            throw new SluiceException(gpu.id() + " does not answer, and may still change a word of " + memory
                    + ", which stays allocated: is it held up by a kernel? Do not free memory of your own before that has"
                    + " ended");
        }
        if (imported != null) {
            imported.release();
        }
    }
}
