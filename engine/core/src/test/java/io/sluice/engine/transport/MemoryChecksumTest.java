package io.sluice.engine.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Filling;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryChecksumTest {
    private final MemoryChecksum sum = new MemoryChecksum();

    @Test
    void checkValueOfTheStandard() {
        MemorySegment digits = MemorySegment.ofArray("123456789".getBytes(StandardCharsets.US_ASCII));
        sum.update(digits, 0, 9);
        assertThat(sum.value()).isEqualTo(0xE3069283);
    }

    @Test
    void nothingHasZero() {
        assertThat(sum.value()).isZero();
        sum.update(MemorySegment.NULL, 0, 0);
        assertThat(sum.value()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, MemoryChecksum.PIECE_BYTES, MemoryChecksum.PIECE_BYTES + 1, 100_000})
    void partsGiveWhatTheWholeGives(int bytes) {
        MemorySegment memory = Arena.ofAuto().allocate(bytes + 3L);
        Filling.fill(memory, 1);
        CRC32C expected = new CRC32C();
        expected.update(Filling.bytes(1, 3, bytes));
        sum.update(memory, 3, bytes / 3);
        sum.update(memory, 3 + bytes / 3, bytes - bytes / 3);
        assertThat(Integer.toUnsignedLong(sum.value())).isEqualTo(expected.getValue());
        sum.reset();
        sum.update(memory, 3, bytes);
        assertThat(Integer.toUnsignedLong(sum.value())).isEqualTo(expected.getValue());
    }

    @Test
    void freedMemoryIsAnException() {
        MemorySegment memory;
        try (Arena arena = Arena.ofShared()) {
            memory = arena.allocate(100);
        }
        assertThatThrownBy(() -> sum.update(memory, 0, 100)).isInstanceOf(IllegalStateException.class);
    }
}
