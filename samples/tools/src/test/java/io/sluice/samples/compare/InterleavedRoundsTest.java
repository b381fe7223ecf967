package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class InterleavedRoundsTest {

    private final List<String> runs = new ArrayList<>();
    private final StringWriter told = new StringWriter();

    @Test
    void eachRoundMeasuresEverythingOnce() throws IOException {
        Scripted first = new Scripted("first", 9, 1, 5);
        Scripted second = new Scripted("second", 2, 2, 2);
        InterleavedRounds rounds = run(first, second);
        assertThat(runs).containsExactly("first", "second", "first", "second", "first", "second");
        assertThat(rounds.of(first).values(Quantity.GIGABYTES_PER_SECOND)).containsExactly(9.0, 1.0, 5.0);
        assertThat(rounds.isBrokenOff()).isFalse();
        assertThat(told.toString()).contains("round 1 of 3", "round 3 of 3");
    }

    @Test
    void eachRoundButTheFirstTellsWhatIsLeft() {
        RoundsProgress progress = new RoundsProgress(new PrintWriter(told), false);
        progress.beginRound(1, 5, Duration.ZERO);
        progress.beginRound(2, 5, Duration.ofMinutes(12));
        progress.beginRound(5, 5, Duration.ofSeconds(100));
        assertThat(told.toString().lines())
                .containsExactly(
                        "sluice: round 1 of 5",
                        "sluice: round 2 of 5, about 48 minutes left",
                        "sluice: round 5 of 5, about 25 s left");
    }

    @Test
    void whatFailsTwiceIsGivenUpAndTheRestGoesOn() throws IOException {
        Scripted failing = new Scripted("failing", Scripted.FAILS, Scripted.FAILS, 1);
        Scripted senseless = new Scripted("senseless", 0, 3, Double.NaN);
        Scripted good = new Scripted("good", 1, 2, 3);
        InterleavedRounds rounds = run(failing, senseless, good);
        assertThat(runs)
                .containsExactly("failing", "senseless", "good", "failing", "senseless", "good", "senseless", "good");
        assertThat(rounds.of(failing).problem()).isEqualTo("failing does not work");
        assertThat(rounds.of(senseless).values(Quantity.GIGABYTES_PER_SECOND)).containsExactly(null, 3.0, null);
        assertThat(rounds.of(good).problem()).isNull();
        assertThat(told.toString()).contains("failing does not work");
    }

    @Test
    void anInterruptionKeepsWhatWasMeasured() throws IOException {
        Scripted first = new Scripted("first", 1, 2, 3);
        Scripted second = new Scripted("second", 4, Scripted.INTERRUPTED, 6);
        InterleavedRounds rounds = run(first, second);
        assertThat(rounds.isBrokenOff()).isTrue();
        assertThat(runs).containsExactly("first", "second", "first", "second");
        assertThat(rounds.of(second).values(Quantity.GIGABYTES_PER_SECOND)).containsExactly(4.0);
    }

    private InterleavedRounds run(Scripted... measurements) throws IOException {
        Timing timing = new Timing(3, Duration.ofSeconds(1), Duration.ZERO);
        Pinning pinning = new Pinning(List.of(), List.of(), List.of(), false);
        try (BenchEnvironment workbench = BenchEnvironment.open(timing, pinning, arguments -> arguments, () -> false)) {
            InterleavedRounds rounds = new InterleavedRounds(
                    List.of(measurements), workbench, new RoundsProgress(new PrintWriter(told), false));
            rounds.run();
            return rounds;
        }
    }

    /** Starts nothing, and tells what it is to tell. */
    private final class Scripted implements Measurement {
        static final double FAILS = -1;
        static final double INTERRUPTED = -2;

        private final String label;
        private final double[] values;
        private int next;

        Scripted(String label, double... values) {
            this.label = label;
            this.values = values;
        }

        @Override
        public Program program() {
            return Program.SLUICE;
        }

        @Override
        public String label() {
            return label;
        }

        @Override
        public Figures run(BenchEnvironment workbench) throws MeasurementFailedException {
            runs.add(label);
            double value = values[next++];
            if (value == FAILS) {
                throw new MeasurementFailedException(label + " does not work");
            }
            if (value == INTERRUPTED) {
                throw new BrokenOffException();
            }
            return Figures.ofBandwidth(value);
        }
    }
}
