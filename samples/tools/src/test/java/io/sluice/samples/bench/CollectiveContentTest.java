package io.sluice.samples.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The content of collectives, and that its check takes nothing wrong for right. */
class CollectiveContentTest {
    private static final int RANKS = 3;
    private static final int COUNT = 100_000;

    private final MemorySegment memory = Arena.ofAuto().allocate((long) COUNT * Float.BYTES, Float.BYTES);

    @ParameterizedTest
    @EnumSource
    void theReductionIsThatOfAllRanks(ReduceOperation operation) {
        try (CollectiveContent content = new CollectiveContent(RANKS, ElementType.FLOAT32, operation)) {
            float[][] given = new float[RANKS][];
            for (int rank = 0; rank < RANKS; rank++) {
                content.of(rank).put(7, 5, memory);
                given[rank] = memory.toArray(ValueLayout.JAVA_FLOAT);
            }
            for (int i = 0; i < COUNT; i++) {
                float result = given[0][i];
                for (int rank = 1; rank < RANKS; rank++) {
                    result = switch (operation) {
                        case SUM, AVERAGE -> result + given[rank][i];
                        case PRODUCT -> result * given[rank][i];
                        case MIN -> Math.min(result, given[rank][i]);
                        case MAX -> Math.max(result, given[rank][i]);
                    };
                }
                memory.setAtIndex(
                        ValueLayout.JAVA_FLOAT, i, operation == ReduceOperation.AVERAGE ? result / RANKS : result);
            }
            assertThat(content.reduced().isIn(7, 5, memory)).isTrue();
            assertThat(content.reduced().isIn(8, 5, memory))
                    .as("a stale result")
                    .isFalse();
            assertThat(content.reduced().isIn(7, 6, memory))
                    .as("one element off")
                    .isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void oneWrongElementIsSeen(ElementType type) {
        try (CollectiveContent content = new CollectiveContent(2, type, ReduceOperation.SUM)) {
            content.reduced().put(1, 0, memory);
            assertThat(content.reduced().isIn(1, 0, memory)).isTrue();
            assertThat(content.of(0).isIn(1, 0, memory)).as("one rank's alone").isFalse();
            long last = memory.byteSize() - 1;
            memory.set(ValueLayout.JAVA_BYTE, last, (byte) (memory.get(ValueLayout.JAVA_BYTE, last) ^ 1));
            assertThat(content.reduced().isIn(1, 0, memory)).isFalse();
        }
    }

    @Test
    void swappedChunksAndPoisonAreSeen() {
        try (CollectiveContent content = new CollectiveContent(2, ElementType.FLOAT32, ReduceOperation.SUM)) {
            MemorySegment chunks = Arena.ofAuto().allocate(512 << 10, Float.BYTES);
            content.reduced().put(0, 0, chunks);
            byte[] first = chunks.asSlice(0, 256 << 10).toArray(ValueLayout.JAVA_BYTE);
            MemorySegment.copy(chunks, 256 << 10, chunks, 0, 256 << 10);
            MemorySegment.copy(first, 0, chunks, ValueLayout.JAVA_BYTE, 256 << 10, first.length);
            assertThat(content.reduced().isIn(0, 0, chunks)).isFalse();
            CollectiveContent.poison(chunks);
            for (ElementType type : ElementType.values()) {
                try (CollectiveContent other = new CollectiveContent(2, type, ReduceOperation.SUM)) {
                    assertThat(other.reduced().isIn(0, 0, chunks.asSlice(0, type.bytes())))
                            .as("poison as " + type)
                            .isFalse();
                }
            }
        }
    }
}
