package io.sluice.collectives;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each method of a team over the driver of a guest, which has adapters in software. */
@Tag("softroce")
class SoftRoceCollectivesTest {
    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void everyMethodOverAnRdmaDriver(int size) {
        try (Ranks ranks = CollectiveCrossesTest.ranks("verbs", size)) {
            for (Cross.Called called : Cross.Called.values()) {
                // with its header, and in several messages
                for (long count : new long[] {size + 1, 20_000}) {
                    CrossRun.runAndCheck(
                            ranks,
                            new Cross(
                                    called,
                                    size,
                                    count,
                                    ElementType.FLOAT32,
                                    called.reduces() ? ReduceOperation.SUM : null,
                                    false,
                                    Algorithm.AUTO,
                                    false,
                                    false,
                                    64,
                                    size - 1,
                                    count));
                }
            }
            ranks.call((rank, team, callback) -> team.barrier(CollectiveOptions.defaults(), callback));
        }
    }
}
