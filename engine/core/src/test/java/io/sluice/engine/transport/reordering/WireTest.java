package io.sluice.engine.transport.reordering;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A wire that never disordered anything would test nothing. */
class WireTest {
    private static final int PACKETS = 500;
    private static final long START = Long.MAX_VALUE - 1_000_000;

    /** The packets delivered, and when, if some enter in each microsecond; deliveries at the same step are in order. */
    private record Run(List<Long> sequences, List<Long> times) {
        static Run of(long seed, int packetsAStep) {
            Wire wire = new Wire(new Disorder(seed));
            Run run = new Run(new ArrayList<>(), new ArrayList<>());
            long now = START;
            for (long sequence = 0; sequence < PACKETS || !wire.isEmpty(); now += 1_000) {
                for (int i = 0; i < packetsAStep && sequence < PACKETS; i++, sequence++) {
                    wire.carry(Packets.numbered(sequence, 10), now);
                }
                for (Packet packet = wire.deliver(now); packet != null; packet = wire.deliver(now)) {
                    run.sequences.add(packet.sequence());
                    run.times.add(now - START);
                }
            }
            assertThat(wire.heldBytes()).isZero();
            return run;
        }

        List<Long> firsts() {
            return sequences.stream().distinct().toList();
        }
    }

    private static long overtaken(List<Long> sequences) {
        long highest = -1;
        long count = 0;
        for (long sequence : sequences) {
            if (sequence < highest) {
                count++;
            }
            highest = Math.max(highest, sequence);
        }
        return count;
    }

    @Test
    void everyPacketComesOutAtLeastOnce() {
        for (long seed = 0; seed < 20; seed++) {
            assertThat(Run.of(seed, 3).firsts()).hasSize(PACKETS);
        }
    }

    @Test
    void packetsThatComeTogetherAreShuffled() {
        for (long seed = 0; seed < 20; seed++) {
            assertThat(overtaken(Run.of(seed, PACKETS).firsts())).isGreaterThan(PACKETS / 2);
        }
    }

    @Test
    void packetsThatComeOneByOneAreOvertakenAsWell() {
        for (long seed = 0; seed < 20; seed++) {
            assertThat(overtaken(Run.of(seed, 1).firsts())).isGreaterThan(PACKETS / 40);
        }
    }

    @Test
    void someComeSeveralTimesAndTheCopiesApart() {
        for (long seed = 0; seed < 20; seed++) {
            List<Long> sequences = Run.of(seed, 3).sequences();
            assertThat(sequences.size()).isBetween(PACKETS + PACKETS / 20, PACKETS + PACKETS / 3);
            long apart = sequences.stream()
                    .distinct()
                    .filter(sequence -> sequences.lastIndexOf(sequence) > sequences.indexOf(sequence) + 1)
                    .count();
            assertThat(apart).as("copies with others between them").isPositive();
        }
    }

    @Test
    void someAreDelayedAndNoneForEver() {
        for (long seed = 0; seed < 20; seed++) {
            List<Long> times = Run.of(seed, PACKETS).times();
            assertThat(times).isSorted();
            assertThat(times.getFirst()).isZero();
            assertThat(times.getLast()).isBetween(100_000L, Disorder.LONGEST_DELAY_NANOS + 1_000);
        }
    }

    @Test
    void sameSeedReplaysAndAnotherDoesNot() {
        assertThat(Run.of(5, 3)).isEqualTo(Run.of(5, 3));
        assertThat(Run.of(5, 3)).isNotEqualTo(Run.of(6, 3));
    }

    @Test
    void fateOfAPacketIsTheSameHoweverTheyCome() {
        List<Long> together = Run.of(5, PACKETS).sequences();
        List<Long> apart = Run.of(5, 1).sequences();
        for (long sequence = 0; sequence < PACKETS; sequence++) {
            assertThat(Collections.frequency(apart, sequence)).isEqualTo(Collections.frequency(together, sequence));
        }
    }

    @Test
    void isFullAtItsCapacityAndEmptyOnceCleared() {
        Wire wire = new Wire(new Disorder(1));
        long sequence = 0;
        while (!wire.isFull()) {
            wire.carry(Packets.numbered(sequence++, Packet.MOST_PAYLOAD), START);
        }
        assertThat(wire.heldBytes())
                .isBetween(Wire.CAPACITY_BYTES, Wire.CAPACITY_BYTES + (long) Disorder.MOST_COPIES * Packet.MOST_BYTES);
        while (wire.deliver(START) != null) {
            assertThat(wire.isEmpty()).isFalse();
        }
        assertThat(wire.isFull()).isFalse();
        assertThat(wire.nextDue() - START).isPositive();
        wire.clear();
        assertThat(wire.isEmpty()).isTrue();
        assertThat(wire.heldBytes()).isZero();
        assertThat(wire.deliver(START)).isNull();
    }

    @Test
    void filterBehindItLetsEachPacketThroughOnce() {
        for (long seed = 0; seed < 20; seed++) {
            DuplicateFilter filter = new DuplicateFilter();
            long[] passed = Run.of(seed, 3).sequences().stream()
                    .filter(filter::isFirst)
                    .mapToLong(Long::longValue)
                    .toArray();
            Arrays.sort(passed);
            assertThat(passed).hasSize(PACKETS).doesNotHaveDuplicates();
            assertThat(filter.firstMissing()).isEqualTo(PACKETS);
        }
    }
}
