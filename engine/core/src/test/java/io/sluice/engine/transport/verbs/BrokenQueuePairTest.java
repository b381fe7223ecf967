package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionState;
import io.sluice.testkit.Extent;
import io.sluice.testkit.Patience;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A queue pair that breaks by itself costs no transfer: what it had not done is done again, and nothing is done twice. */
@Tag("verbs")
class BrokenQueuePairTest {
    private static final int ROUNDS = Extent.of(30, 100);

    private final SoftAdapter adapter = SoftAdapter.get();
    private final Random random = new Random(20_240_229L);

    @ParameterizedTest
    @CsvSource({"1, 1", "4, 1", "4, 2"})
    void loadGoesOnWhenQueuePairsBreak(int lanes, int rails) {
        int before = adapter.mark();
        try (VerbsPair pair = rails == 1
                ? VerbsPair.open(both -> both.lanes(lanes))
                : VerbsPair.openRails(both -> both.lanes(lanes))) {
            MixedLoad load = MixedLoad.of(pair).start();
            MixedLoad back = MixedLoad.back(pair).start();
            for (int round = 0; round < ROUNDS; round++) {
                adapter.breakOneOf(random, before);
                if (round % 4 != 3) {
                    load.awaitProgress(random.nextInt(100));
                    back.awaitProgress(random.nextInt(100));
                }
            }
            // it has healed, not only survived
            load.awaitProgress(500);
            back.awaitProgress(500);
            load.stopAndCheck();
            back.stopAndCheck();
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
            assertThat(pair.accepted().state()).isEqualTo(ConnectionState.OPEN);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 2"})
    void idleConnectionHealsBeforeItIsUsed(int lanes, int rails) {
        int before = adapter.mark();
        try (VerbsPair pair = rails == 1
                ? VerbsPair.open(both -> both.lanes(lanes))
                : VerbsPair.openRails(both -> both.lanes(lanes))) {
            for (int round = 0; round < 10; round++) {
                adapter.breakOneOf(random, before);
                MixedLoad load = MixedLoad.silent(pair).start();
                load.awaitProgress(20);
                load.stopAndCheck();
            }
        }
    }

    /** However often they break: the old ones are destroyed, and their queues can go with the connection. */
    @Test
    void brokenQueuePairsLeaveNothing() {
        int lanes = 2;
        // what is loaded once stays
        VerbsPair.open(both -> {}).close();
        Resources before = Resources.now();
        long queuePairs = adapter.counter("queue_pairs");
        int mark = adapter.mark();
        try (VerbsPair pair = VerbsPair.open(both -> both.lanes(lanes))) {
            MixedLoad load = MixedLoad.silent(pair).start();
            for (int round = 0; round < 10; round++) {
                adapter.breakOneOf(random, mark);
                load.awaitProgress(20);
            }
            load.stopAndCheck();
            Patience.until(
                    "one is left for each end of a lane",
                    () -> adapter.counter("queue_pairs") == queuePairs + 2 * lanes);
        }
        before.assertSettled();
    }
}
