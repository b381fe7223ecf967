package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryTest {
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void mapped_memory_is_zeroed_aligned_and_writable(boolean prefault) {
        long bytes = 5L * Memory.pageSize() + 1;
        long address = Memory.map(bytes, prefault);
        assertThat(address).isPositive();
        try {
            assertThat(address % Memory.pageSize()).isZero();
            MemorySegment segment = MemorySegment.ofAddress(address).reinterpret(bytes);
            assertThat(segment.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
            segment.fill((byte) 7);
            assertThat(segment.get(ValueLayout.JAVA_BYTE, bytes - 1)).isEqualTo((byte) 7);
        } finally {
            assertThat(Memory.unmap(address, bytes)).isZero();
        }
    }

    @Test
    void sizes_that_make_no_sense_are_errors() {
        assertThat(Memory.map(0, false)).isEqualTo(-Errno.EINVAL);
        assertThat(Memory.map(-1, true)).isEqualTo(-Errno.EINVAL);
        assertThat(Memory.map(Long.MAX_VALUE, false)).isEqualTo(-Errno.ENOMEM);
        assertThat(Memory.unmap(1, 1)).isEqualTo(-Errno.EINVAL);
        assertThat(Memory.unmap(Memory.pageSize(), 0)).isEqualTo(-Errno.EINVAL);
    }
}
