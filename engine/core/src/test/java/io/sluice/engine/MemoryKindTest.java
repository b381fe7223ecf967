package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MemoryKindTest {
    @Test
    void hostMemoryIsZeroOnTheWireAsInEarlierVersions() {
        assertThat(MemoryKind.HOST.code()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void codesAreReadAsTheyWereWritten(MemoryKind kind) {
        assertThat(kind.code()).isBetween(0, 255);
        assertThat(MemoryKind.fromCode(kind.code())).isEqualTo(kind);
    }

    @Test
    void aKindOfALaterVersionIsRefusedByItsNumber() {
        assertThatThrownBy(() -> MemoryKind.fromCode(200))
                .isInstanceOf(InvalidDescriptorException.class)
                .hasMessageContaining("200");
    }
}
