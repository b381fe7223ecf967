package io.sluice.cuda;

import io.sluice.jni.CudaDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A GPU that this process sees. Immutable.
 *
 * @param ordinal the number that this process has for it, from 0; other processes may have another one
 * @param id its UUID, such as {@code GPU-8c7a1d2e-…}, the same in every process
 * @param name what its maker calls it
 * @param memoryBytes its memory
 * @param pciAddress domain, bus, device and function in lower case, such as {@code 0000:3b:00.0}
 * @param links to the other GPUs that this process sees, by their ordinals
 * @param dmaBuffers whether the driver exports its memory to RDMA adapters
 * @param rdmaDevice the nearest RDMA device by PCI; {@code null} if there is none or the system tells no places
 */
public record GpuInfo(
        int ordinal,
        String id,
        String name,
        long memoryBytes,
        String pciAddress,
        List<Link> links,
        boolean dmaBuffers,
        @Nullable NearDevice rdmaDevice) {

    /** Copies the links. */
    public GpuInfo {
        links = List.copyOf(links);
    }

    /** How a GPU reaches the memory of another one. */
    public enum LinkKind {
        /** Over NVLink: atomic operations are native there, too. */
        NVLINK,
        /** Over PCIe. */
        PCIE,
        /** It cannot map that memory. */
        NONE
    }

    /**
     * How a GPU reaches another one, by the driver's word.
     *
     * @param peer the other one's ordinal
     * @param kind how
     */
    public record Link(int peer, LinkKind kind) {
        private static Link of(int from, int to) {
            int link = CudaDevice.link(from, to);
            if (link < 0 || (link & CudaDevice.LINK_ACCESS) == 0) {
                return new Link(to, LinkKind.NONE);
            }
            return new Link(to, (link & CudaDevice.LINK_NATIVE_ATOMICS) != 0 ? LinkKind.NVLINK : LinkKind.PCIE);
        }
    }

    /**
     * A device near a GPU.
     *
     * @param name what the system calls it, such as {@code mlx5_0}
     * @param place where it is, seen from the GPU, in words
     */
    public record NearDevice(String name, String place) {}

    /**
     * Returns the GPUs that this process sees. The first call opens the CUDA driver.
     *
     * @return in the order of their ordinals; none if CUDA cannot be used here, for which {@link CudaTransportProvider#status} has
     *     the reason
     */
    public static List<GpuInfo> all() {
        if (Driver.unavailable() != null) {
            return List.of();
        }
        PciTree tree = PciTree.ofMachine();
        int count = Math.max(0, CudaDevice.count());
        return IntStream.range(0, count)
                .mapToObj(ordinal -> of(ordinal, count, tree))
                .toList();
    }

    private static GpuInfo of(int ordinal, int count, PciTree tree) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment record = query(ordinal, arena);
            String address = pciAddress(record);
            List<Link> links = IntStream.range(0, count)
                    .filter(peer -> peer != ordinal)
                    .mapToObj(peer -> Link.of(ordinal, peer))
                    .toList();
            return new GpuInfo(
                    ordinal,
                    id(record),
                    record.getString(CudaDevice.RECORD_NAME_OFFSET),
                    record.get(ValueLayout.JAVA_LONG, CudaDevice.RECORD_MEMORY_BYTES_OFFSET),
                    address,
                    links,
                    record.get(ValueLayout.JAVA_INT, CudaDevice.RECORD_DMA_BUFFERS_OFFSET) != 0,
                    tree.nearestRdmaDevice(address));
        }
    }

    /** The id of one. */
    static String id(int ordinal) {
        try (Arena arena = Arena.ofConfined()) {
            return id(query(ordinal, arena));
        }
    }

    /** Where one is, as the system writes it. */
    static String pciAddress(int ordinal) {
        try (Arena arena = Arena.ofConfined()) {
            return pciAddress(query(ordinal, arena));
        }
    }

    private static String pciAddress(MemorySegment record) {
        return PciTree.address(record.getString(CudaDevice.RECORD_BUS_ID_OFFSET));
    }

    /** Describes a GPU in words. */
    static String describe(int ordinal) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment record = query(ordinal, arena);
            return record.getString(CudaDevice.RECORD_NAME_OFFSET) + " " + id(record);
        }
    }

    /** The driver's record of one. */
    static MemorySegment query(int ordinal, Arena arena) {
        MemorySegment record = arena.allocate(CudaDevice.RECORD_BYTES, Long.BYTES);
        CudaException.check(CudaDevice.query(ordinal, record.address()), "cannot describe GPU " + ordinal);
        return record;
    }

    private static String id(MemorySegment record) {
        ValueLayout.OfLong big = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
        long uuid = CudaDevice.RECORD_UUID_OFFSET;
        return "GPU-" + new UUID(record.get(big, uuid), record.get(big, uuid + Long.BYTES));
    }
}
