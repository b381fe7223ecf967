package io.sluice.jni;

import static io.sluice.jni.SoftGpu.ok;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CudaDeviceTest {
    private static final long INVALID_VALUE = -1;
    private static final long INVALID_DEVICE = -101;

    @BeforeEach
    void load() {
        SoftGpu.load();
    }

    @Test
    void devices_are_described() {
        assertThat(CudaDevice.count()).isEqualTo(2);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment record = arena.allocate(CudaDevice.RECORD_BYTES, 8);
            ok(CudaDevice.query(1, record.address()));
            assertThat(record.get(ValueLayout.JAVA_BYTE, CudaDevice.RECORD_UUID_OFFSET + 15))
                    .isEqualTo((byte) '1');
            assertThat(record.get(ValueLayout.JAVA_LONG, CudaDevice.RECORD_MEMORY_BYTES_OFFSET))
                    .isEqualTo(64L << 30);
            assertThat(record.get(ValueLayout.JAVA_INT, CudaDevice.RECORD_ORDINAL_OFFSET))
                    .isEqualTo(1);
            assertThat(record.get(ValueLayout.JAVA_INT, CudaDevice.RECORD_COMPUTE_MAJOR_OFFSET))
                    .isEqualTo(9);
            assertThat(record.get(ValueLayout.JAVA_INT, CudaDevice.RECORD_MULTIPROCESSORS_OFFSET))
                    .isEqualTo(4);
            assertThat(record.getString(CudaDevice.RECORD_NAME_OFFSET)).isEqualTo("Software GPU 1");
            assertThat(record.getString(CudaDevice.RECORD_BUS_ID_OFFSET)).isEqualTo("0000:11:00.0");
            assertThat(CudaDevice.query(2, record.address())).isEqualTo((int) INVALID_DEVICE);
            assertThat(CudaDevice.query(0, 0)).isEqualTo((int) INVALID_VALUE);
        }
    }

    @Test
    void links_tell_access_and_native_atomics() {
        assertThat(CudaDevice.link(0, 1)).isEqualTo(CudaDevice.LINK_ACCESS | CudaDevice.LINK_NATIVE_ATOMICS);
        assertThat(CudaDevice.link(0, 5)).isEqualTo((int) INVALID_DEVICE);
    }

    @Test
    void errors_have_the_words_of_the_driver_or_of_the_system() {
        assertThat(CudaLibrary.errorText(-2)).isEqualTo("CUDA_ERROR_OUT_OF_MEMORY: out of memory");
        assertThat(CudaLibrary.errorText(-100000 - Errno.ENOMEM)).isEqualTo("Cannot allocate memory");
        assertThat(CudaLibrary.errorText(-4242)).isEqualTo("the driver's error 4242");
        assertThat(CudaLibrary.driverVersion()).isEqualTo(13000);
        assertThat(CudaLibrary.claim()).isNull();
    }

    @Test
    void a_caller_keeps_its_own_context() {
        long first = ok(CudaDevice.open(0));
        long second = ok(CudaDevice.open(1));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(8, 8);
            ok(CudaDevice.makeCurrent(first));
            ok(CudaDevice.freeMemory(second, bytes.address()));
            assertThat(bytes.get(ValueLayout.JAVA_LONG, 0)).isPositive();
            ok(CudaDevice.freeMemory(first, bytes.address()));
            ok(CudaDevice.enablePeer(first, second));
            assertThat(CudaDevice.enablePeer(first, 0)).isEqualTo((int) INVALID_VALUE);
            assertThat(CudaDevice.fault(first)).isZero();
        } finally {
            ok(CudaDevice.close(second));
            ok(CudaDevice.close(first));
        }
    }

    @Test
    void a_device_that_is_none_is_an_error() {
        assertThat(CudaDevice.open(-1)).isEqualTo(INVALID_DEVICE);
        assertThat(CudaDevice.close(0)).isEqualTo((int) INVALID_VALUE);
        assertThat(CudaMemory.allocate(0, 1 << 21)).isEqualTo(INVALID_VALUE);
        assertThat(CudaStream.create(0, 0, 0, 1)).isEqualTo(INVALID_VALUE);
        assertThat(CudaModule.load(0, 0)).isEqualTo(INVALID_VALUE);
    }
}
