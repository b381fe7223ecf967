package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.transport.Capabilities;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChunkerTest {
    private static final long KIB = 1024;
    private static final long MIB = 1024 * KIB;
    private static final long GIB = 1024 * MIB;

    private static final Chunker DEFAULT = new Chunker(64 * MIB, GIB, Capabilities.PREFERRED_CHUNK);

    @ParameterizedTest
    @CsvSource({
        // element, chunk
        "0, 524288",
        "1, 524288",
        "524288, 524288",
        "8388608, 524288",
        "8388624, 524289",
        "16777216, 1048576",
        "134217728, 8388608",
        "1073741824, 8388608",
        "9223372036854775807, 8388608"
    })
    void chunkIsASixteenthWithinItsBounds(long element, long chunk) {
        assertThat(DEFAULT.chunk(element)).isEqualTo(chunk);
    }

    @Test
    void smallWindowMakesSmallChunks() {
        assertThat(new Chunker(MIB, GIB, Capabilities.PREFERRED_CHUNK).chunk(GIB))
                .isEqualTo(128 * KIB);
        assertThat(new Chunker(64 * KIB, GIB, Capabilities.PREFERRED_CHUNK).chunk(1))
                .isEqualTo(8 * KIB);
    }

    @Test
    void noChunkIsLargerThanTheLargestMessage() {
        assertThat(new Chunker(GIB, 4096, Capabilities.PREFERRED_CHUNK).chunk(GIB))
                .isEqualTo(4096);
        assertThat(new Chunker(1L << 40, GIB, Capabilities.PREFERRED_CHUNK).chunk(1L << 40))
                .isEqualTo(GIB);
    }

    @Test
    void chunkIsNeverNothing() {
        assertThat(new Chunker(1, GIB, Capabilities.PREFERRED_CHUNK).chunk(GIB)).isEqualTo(1);
        assertThat(new Chunker(GIB, 0, Capabilities.PREFERRED_CHUNK).chunk(GIB)).isEqualTo(1);
    }

    /** Eight of the largest fit into the window: otherwise an element could wait for ever for credits. */
    @Test
    void chunksOfAnyElementFitIntoTheWindow() {
        for (long window = 1; window < 1L << 41; window = window * 3 + 1) {
            Chunker chunker = new Chunker(window, GIB, Capabilities.PREFERRED_CHUNK);
            for (long element = 0; element < 1L << 50; element = element * 3 + 1) {
                assertThat(chunker.chunk(element)).isBetween(1L, Math.max(1, window / 8));
            }
        }
    }
}
