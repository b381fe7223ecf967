package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class RegionMemoryTest {
    private static final String GPU = "GPU-8c7a1d2e-0000-0000-0000-000000000001";

    private final AtomicBoolean alive = new AtomicBoolean(true);
    private final RegionMemory device = RegionMemory.device(MemoryKind.CUDA, GPU, 0x7f00_0000_0000L, 4096, alive::get);

    @Test
    void memoryOfTheHostIsItsSegment() {
        RegionMemory memory;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment segment = arena.allocate(4096, 64);
            memory = RegionMemory.host(segment);
            assertThat(memory.kind()).isEqualTo(MemoryKind.HOST);
            assertThat(memory.device()).isNull();
            assertThat(memory.address()).isEqualTo(segment.address());
            assertThat(memory.length()).isEqualTo(4096);
            assertThat(memory.isHost()).isTrue();
            assertThat(memory.segment()).isSameAs(segment);
            RegionMemory part = memory.slice(64, 128);
            assertThat(part.address()).isEqualTo(segment.address() + 64);
            assertThat(part.segment()).isEqualTo(segment.asSlice(64, 128));
            assertThat(part.isAlive()).isTrue();
        }
        assertThat(memory.isAlive()).isFalse();
    }

    @Test
    void memoryOfADeviceHasAnAddressAndNoSegment() {
        assertThat(device.kind()).isEqualTo(MemoryKind.CUDA);
        assertThat(device.device()).isEqualTo(GPU);
        assertThat(device.isHost()).isFalse();
        assertThatThrownBy(device::segment)
                .isInstanceOf(MemoryNotAccessibleException.class)
                .hasMessageContaining("4096 bytes of CUDA memory of " + GPU)
                .hasMessageContaining("memory()")
                .hasMessageContaining("region of host memory");
        RegionMemory part = device.slice(1024, 512);
        assertThat(part.address()).isEqualTo(device.address() + 1024);
        assertThat(part.length()).isEqualTo(512);
        assertThat(part.device()).isEqualTo(GPU);
        assertThatThrownBy(part::segment).isInstanceOf(MemoryNotAccessibleException.class);
    }

    @Test
    void aPartLivesAsLongAsTheWhole() {
        RegionMemory part = device.slice(0, 8);
        assertThat(part.isAlive()).isTrue();
        alive.set(false);
        assertThat(part.isAlive()).isFalse();
        assertThat(device).hasToString("4096 bytes of CUDA memory of " + GPU + ", freed");
    }

    @Test
    void aPartStaysWithin() {
        assertThatThrownBy(() -> device.slice(4090, 7)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> device.slice(-1, 7)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> device.slice(0, Long.MAX_VALUE)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(device.slice(4096, 0).length()).isZero();
    }

    @Test
    void whatIsNoMemoryIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RegionMemory.device(MemoryKind.HOST, GPU, 4096, 1, alive::get));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RegionMemory.device(MemoryKind.CUDA, GPU, 4096, -1, alive::get));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RegionMemory.device(MemoryKind.CUDA, GPU, -4096, 8192, alive::get));
        // the last page of the address space
        assertThat(RegionMemory.device(MemoryKind.CUDA, GPU, -4096, 4095, alive::get)
                        .length())
                .isEqualTo(4095);
    }
}
