package io.sluice.jni;

import static io.sluice.jni.SoftGpu.ok;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CudaMemoryTest {
    private static final long INVALID_VALUE = -1;
    private static final long OUT_OF_MEMORY = -2;

    private SoftGpu gpu;
    private long granule;

    @BeforeEach
    void open() {
        gpu = new SoftGpu(0);
        granule = ok(CudaMemory.granularity(gpu.device));
    }

    @AfterEach
    void close() {
        gpu.close();
    }

    private MemorySegment describe(long address) {
        MemorySegment record = gpu.pinned.asSlice(0, CudaMemory.RECORD_BYTES);
        ok(CudaMemory.describe(address, record.address()));
        return record;
    }

    private int kind(long address) {
        return describe(address).get(ValueLayout.JAVA_INT, CudaMemory.RECORD_KIND_OFFSET);
    }

    private long bufferId(long address) {
        return describe(address).get(ValueLayout.JAVA_LONG, CudaMemory.RECORD_BUFFER_ID_OFFSET);
    }

    @Test
    void memory_made_again_at_one_address_has_another_buffer_id() {
        long address = ok(CudaMemory.allocate(gpu.device, granule));
        long before = bufferId(address);
        ok(CudaMemory.free(gpu.device, address, granule));
        assertThat(kind(address)).isEqualTo(CudaMemory.KIND_UNKNOWN);
        assertThat(CudaMemory.allocate(gpu.device, granule)).isEqualTo(address);
        assertThat(bufferId(address)).isNotEqualTo(before);
        ok(CudaMemory.free(gpu.device, address, granule));
    }

    @Test
    void an_allocation_is_found_by_any_of_its_addresses() {
        long address = ok(CudaMemory.allocate(gpu.device, 2 * granule));
        MemorySegment record = describe(address + granule + 3);
        assertThat(record.get(ValueLayout.JAVA_LONG, CudaMemory.RECORD_BASE_OFFSET))
                .isEqualTo(address);
        assertThat(record.get(ValueLayout.JAVA_LONG, CudaMemory.RECORD_LENGTH_OFFSET))
                .isEqualTo(2 * granule);
        assertThat(record.get(ValueLayout.JAVA_INT, CudaMemory.RECORD_KIND_OFFSET))
                .isEqualTo(CudaMemory.KIND_DEVICE);
        assertThat(record.get(ValueLayout.JAVA_INT, CudaMemory.RECORD_SHARING_OFFSET))
                .isEqualTo(CudaMemory.SHARING_DESCRIPTOR);
        assertThat(record.get(ValueLayout.JAVA_INT, CudaMemory.RECORD_ORDINAL_OFFSET))
                .isZero();
        assertThat(kind(gpu.pinnedAddress)).isEqualTo(CudaMemory.KIND_HOST);
        assertThat(kind(4096)).isEqualTo(CudaMemory.KIND_UNKNOWN);
        ok(CudaMemory.free(gpu.device, address, 2 * granule));
    }

    @Test
    void what_cannot_be_is_an_error() {
        assertThat(CudaMemory.allocate(gpu.device, granule + 1)).isEqualTo(INVALID_VALUE);
        assertThat(CudaMemory.allocate(gpu.device, 0)).isEqualTo(INVALID_VALUE);
        assertThat(CudaMemory.allocate(gpu.device, -granule)).isEqualTo(INVALID_VALUE);
        assertThat(CudaMemory.allocate(gpu.device, 1L << 40)).isEqualTo(OUT_OF_MEMORY);
        assertThat(CudaMemory.free(gpu.device, 4096, granule)).isEqualTo((int) INVALID_VALUE);
        assertThat(CudaMemory.export(gpu.device, 4096)).isEqualTo((int) INVALID_VALUE);
        assertThat(CudaMemory.importDescriptor(gpu.device, -1, granule)).isEqualTo(INVALID_VALUE);
        assertThat(CudaMemory.importDescriptor(gpu.device, 0, granule)).isEqualTo(INVALID_VALUE);
        assertThat(CudaMemory.registerHost(gpu.device, gpu.pinned.address(), 0)).isEqualTo(INVALID_VALUE);
        assertThat(CudaMemory.registerHost(gpu.device, gpu.pinned.address(), 8)).isEqualTo(-712);
        assertThat(CudaMemory.ipcHandle(gpu.device, 4096, gpu.pinned.address())).isEqualTo((int) INVALID_VALUE);
        assertThat(CudaMemory.ipcClose(gpu.device, 4096)).isEqualTo((int) INVALID_VALUE);
        assertThat(CudaMemory.describe(4096, 0)).isEqualTo((int) INVALID_VALUE);
    }

    @Test
    void pinned_memory_of_the_host_has_an_address_for_devices() {
        assertThat(CudaMemory.hostAddress(gpu.device, gpu.pinned.address() + 9)).isEqualTo(gpu.pinnedAddress + 9);
        assertThat(CudaMemory.hostAddress(gpu.device, 4096)).isEqualTo(INVALID_VALUE);
    }

    /** Within one process a descriptor opens too; it stands for the same bytes. */
    @Test
    void an_exported_allocation_is_mapped_by_another_device() {
        long address = ok(CudaMemory.allocate(gpu.device, granule));
        int descriptor = (int) ok(CudaMemory.export(gpu.device, address));
        try (SoftGpu other = new SoftGpu(1)) {
            long there = ok(CudaMemory.importDescriptor(other.device, descriptor, granule));
            assertThat(Sockets.close(descriptor)).isZero();
            gpu.pinned.set(ValueLayout.JAVA_LONG, 64, 0x1234_5678_9ABC_DEFL);
            gpu.copy(address + 8, gpu.pinnedAddress + 64, 8);
            other.copy(other.pinnedAddress, there + 8, 8);
            assertThat(other.pinned.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x1234_5678_9ABC_DEFL);
            ok(CudaMemory.free(other.device, there, granule));
        }
        ok(CudaMemory.free(gpu.device, address, granule));
    }

    @Test
    void a_dma_buffer_is_a_descriptor() {
        long address = ok(CudaMemory.allocate(gpu.device, granule));
        int descriptor = (int) ok(CudaMemory.dmaBuffer(gpu.device, address, 4096));
        assertThat(Sockets.close(descriptor)).isZero();
        assertThat(CudaMemory.dmaBuffer(gpu.device, address + 1, 4096)).isEqualTo((int) INVALID_VALUE);
        ok(CudaMemory.flushRemoteWrites(gpu.device));
        ok(CudaMemory.free(gpu.device, address, granule));
    }
}
