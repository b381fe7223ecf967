package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Regions and transfers that 32 bits do not hold. One side's pages are never touched but for some marks, so that only the other
 * side's take memory.
 */
@Tag("verbs")
class LargeRegionTest {
    private static final long FOUR_GIBIBYTES = 1L << 32;
    private static final long BYTES = FOUR_GIBIBYTES + (1 << 20) + 40;
    private static final long[] MARKS = {
        0,
        (1L << 31) - 8,
        1L << 31,
        (3L << 30) + 4096,
        FOUR_GIBIBYTES - 8,
        FOUR_GIBIBYTES,
        FOUR_GIBIBYTES + 4096,
        BYTES - 8
    };

    private static MemoryRegion marked(MemoryRegion region, long seed) {
        for (long mark : MARKS) {
            region.segment().set(ValueLayout.JAVA_LONG, mark, mark ^ seed);
        }
        return region;
    }

    private static void assertMarked(MemoryRegion region, long seed) {
        for (long mark : MARKS) {
            assertThat(region.segment().get(ValueLayout.JAVA_LONG, mark))
                    .as("the word at %d", mark)
                    .isEqualTo(mark ^ seed);
        }
        // the bytes around a mark are unchanged
        for (long mark : MARKS) {
            if (mark + 4096 < BYTES) {
                assertThat(region.segment().get(ValueLayout.JAVA_LONG, mark + 2048))
                        .isZero();
            }
        }
    }

    @Test
    @Tag("soak")
    void readsAndWritesMoreThanFourGibibytesInOneTransfer() {
        // of chunks of 128 MiB: on memory that is touched for the first time each may take a busy machine long
        try (VerbsPair pair =
                VerbsPair.open(both -> both.windowBytes(1L << 30).livenessTimeout(Patience.longBound()))) {
            MemoryRegion served = marked(pair.served(BYTES), 1);
            RemoteRegion remote = pair.attach(served);
            MemoryRegion read = pair.local(BYTES);
            pair.read(read, 0, remote, 0, BYTES).awaitSuccess(Patience.longBound());
            assertMarked(read, 1);
            Patience.await(read.close());

            MemoryRegion source = marked(pair.local(BYTES), 2);
            pair.write(source, 0, remote, 0, BYTES).awaitSuccess(Patience.longBound());
            assertMarked(served, 2);
            Patience.await(source.close());
        }
    }

    @Test
    void reachesWhatLiesAboveFourGibibytes() {
        try (VerbsPair pair = VerbsPair.open(both -> {})) {
            MemoryRegion served = pair.served(BYTES);
            MemoryRegion local = pair.local(BYTES);
            RemoteRegion remote = pair.attach(served);
            RemoteRegion upper = pair.attach(served.slice(FOUR_GIBIBYTES, 1 << 20));
            local.segment().asSlice(FOUR_GIBIBYTES + 8, 4096).fill((byte) 5);
            pair.write(local, FOUR_GIBIBYTES + 8, remote, FOUR_GIBIBYTES + 16, 4096)
                    .awaitSuccess();
            pair.write(local, FOUR_GIBIBYTES + 8, upper, 8192, 4096).awaitSuccess();
            pair.writeWithSignal(local, 0, remote, 0, 8, remote, FOUR_GIBIBYTES + (1 << 19))
                    .awaitSuccess();
            assertThat(served.segment().asSlice(FOUR_GIBIBYTES, 16 + 4096 + 16).toArray(ValueLayout.JAVA_BYTE))
                    .startsWith(new byte[16])
                    .endsWith(new byte[16])
                    .satisfies(bytes -> {
                        for (int i = 16; i < 16 + 4096; i++) {
                            assertThat(bytes[i]).isEqualTo((byte) 5);
                        }
                    });
            assertThat(served.segment().asSlice(0, 8192).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(0);
            Patience.until(
                    "the signal is counted",
                    () -> served.signal(FOUR_GIBIBYTES + (1 << 19)).value() == 1);
            pair.read(local, 0, upper, 8192, 4096).awaitSuccess();
            assertThat(local.segment().asSlice(0, 4096).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(5);
        }
    }
}
