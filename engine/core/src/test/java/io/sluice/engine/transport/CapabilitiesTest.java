package io.sluice.engine.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.sluice.engine.MemoryKind;
import org.junit.jupiter.api.Test;

class CapabilitiesTest {
    private static final Capabilities PLAIN = new Capabilities(1 << 20, true);

    @Test
    void whatIsNotNamedIsPlain() {
        assertThat(PLAIN.gatherElements()).isEqualTo(1);
        assertThat(PLAIN.callerThreadBytes()).isZero();
        assertThat(PLAIN.preferredChunk(MemoryKind.HOST)).isEqualTo(Capabilities.PREFERRED_CHUNK);
    }

    @Test
    void chunksArePreferredByKind() {
        Capabilities capabilities =
                PLAIN.withPreferredChunk(MemoryKind.CUDA, 64 << 20).withGatherElements(4);
        assertThat(capabilities.preferredChunk(MemoryKind.CUDA)).isEqualTo(64 << 20);
        assertThat(capabilities.preferredChunk(MemoryKind.HOST)).isEqualTo(Capabilities.PREFERRED_CHUNK);
        assertThat(capabilities.withPreferredChunk(MemoryKind.HOST, 1).preferredChunk(MemoryKind.CUDA))
                .isEqualTo(64 << 20);
        assertThat(capabilities.gatherElements()).isEqualTo(4);
        assertThat(capabilities.largestMessage()).isEqualTo(1 << 20);
    }

    @Test
    void nothingIsLessThanOne() {
        assertThatIllegalArgumentException().isThrownBy(() -> PLAIN.withGatherElements(0));
        assertThatIllegalArgumentException().isThrownBy(() -> PLAIN.withPreferredChunk(MemoryKind.HOST, 0));
    }
}
