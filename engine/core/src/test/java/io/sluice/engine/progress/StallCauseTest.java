package io.sluice.engine.progress;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The cause given for a poller's long duty cycle, by counts that the test makes up. */
class StallCauseTest {
    private static final long MS = 1_000_000;

    private final Counts counts = new Counts();
    private long classes = 3_000;
    private final StallCause cause = new StallCause(counts, () -> classes, 200 * MS);
    private long now = 5_000 * MS;

    private static final class Counts implements ThreadTimes {
        private boolean told = true;
        private int readings;
        private long ran = 700 * MS;
        private long without = 90 * MS;

        @Override
        public boolean read() {
            readings++;
            return told;
        }

        @Override
        public long ranNanos() {
            return ran;
        }

        @Override
        public long withoutProcessorNanos() {
            return without;
        }
    }

    private void passes(long ran, long without, long waited) {
        counts.ran += ran * MS;
        counts.without += without * MS;
        now += (ran + without + waited) * MS;
    }

    /** A cycle after the first sample. */
    private String longCycle(long ran, long without, long waited) {
        cause.sample(now);
        passes(ran, without, waited);
        return cause.of((ran + without + waited) * MS, now);
    }

    @Test
    void aThreadWithoutAProcessorAccusesNoCallback() {
        assertThat(longCycle(10, 230, 10))
                .startsWith("its thread had no processor for 230 ms of 250, ran for 10 ms and waited for 10 ms: ")
                .contains("no processor to spare")
                .doesNotContain("callback");
    }

    @Test
    void aThreadThatWorkedHadACallbackThatTookLong() {
        assertThat(longCycle(240, 5, 5))
                .contains("ran for 240 ms")
                .contains("a callback works too long")
                .doesNotContain("blocks", "classes");
    }

    @Test
    void aCycleInWhichManyClassesWereLoadedAccusesNoCallback() {
        for (long ran : new long[] {240, 5}) {
            cause.sample(now);
            classes += 57;
            passes(ran, 5, 245 - ran);
            assertThat(cause.of(250 * MS, now)).contains("loaded 57 classes").doesNotContain("callback");
        }
        // those before it, and a few, explain nothing
        classes += 100;
        cause.sample(now);
        classes += 3;
        passes(240, 5, 5);
        assertThat(cause.of(250 * MS, now)).contains("a callback works too long");
    }

    @Test
    void aThreadThatWaitedHadACallbackThatBlocksOrAJvmThatStopped() {
        assertThat(longCycle(5, 5, 290))
                .contains("waited for 290 ms")
                .contains("a callback blocks", "safepoint")
                .doesNotContain("works too long");
    }

    @Test
    void whatWasCountedWhileItWasParkedIsNotTheCycles() {
        cause.sample(now);
        now += 60_000 * MS;
        passes(3, 240, 7);
        assertThat(cause.of(250 * MS, now)).startsWith("its thread had no processor for 240 ms of 250, ran for 3 ms");
    }

    @Test
    void eachLongCycleIsComparedWithTheLast() {
        longCycle(0, 250, 0);
        passes(0, 0, 300);
        assertThat(cause.of(300 * MS, now)).startsWith("its thread had no processor for 0 ms of 300");
    }

    @Test
    void theKernelIsAskedSeldom() {
        cause.sample(now);
        for (int i = 0; i < 1000; i++) {
            now += MS / 10;
            cause.cycleEnded(now);
        }
        // once in 50 ms
        assertThat(counts.readings).isEqualTo(3);
    }

    @Test
    void shortCyclesBeforeALongOneHardlyCount() {
        cause.sample(now);
        for (int i = 0; i < 10_000; i++) {
            passes(0, 1, 0);
            cause.cycleEnded(now);
        }
        passes(0, 0, 250);
        assertThat(cause.of(250 * MS, now)).contains("a callback blocks");
    }

    @Test
    void aShortThresholdIsJudgedByItsOwnCycle() {
        StallCause strict = new StallCause(counts, () -> classes, 1 * MS);
        strict.sample(now);
        for (int i = 0; i < 40; i++) {
            counts.ran += MS / 4;
            now += MS / 4;
            strict.cycleEnded(now);
        }
        passes(0, 0, 2);
        assertThat(strict.of(2 * MS, now)).contains("a callback blocks");
    }

    @Test
    void theSharesNeverExceedTheCycle() {
        cause.sample(now);
        passes(49, 49, 0);
        cause.of(1 * MS, now);
        passes(0, 40, 0);
        assertThat(cause.of(2 * MS, now))
                .startsWith("its thread had no processor for 2 ms of 2, ran for 0 ms and waited for 0");
    }

    @Test
    void whereTheKernelDoesNotTellAllCausesAreNamed() {
        counts.told = false;
        assertThat(longCycle(0, 250, 0)).contains("a callback blocks or works too long", "no processor to spare");
        // it may tell later
        counts.told = true;
        assertThat(longCycle(0, 250, 0)).startsWith("its thread had no processor for 250 ms");
    }
}
