package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** The content that the transfers move, and the check of its arrival. */
interface Content extends AutoCloseable {
    /** Makes the next round's bytes differ from those of the last, where each transfer does not do so itself. */
    default void renew() {}

    /**
     * Compares what has arrived in a round, in another way than the one that is measured.
     *
     * @param submitted how many transfers each connection has made in the round
     * @return the number of elements that differ from those sent
     */
    long differing(List<Long> submitted);

    @Override
    default void close() {}

    /** A set of values, told from others by a sum of what each is mixed to, in any order. */
    final class FetchedValues {
        private long sum;

        void add(long value) {
            sum += Pattern.mix(value);
        }

        /** Adds the values that so many additions of 1 must fetch, one after the other. */
        void addSuccessive(long first, long count) {
            for (long i = 0; i < count; i++) {
                add(first + i);
            }
        }

        boolean isSameAs(FetchedValues other) {
            return sum == other.sum;
        }

        void set(FetchedValues other) {
            sum = other.sum;
        }
    }

    /** Counts the ranges whose bytes are not those that they should be. */
    final class RangeCheck {
        private final Layout layout;
        private final MemorySegment expected;
        private final long arrived;
        private int lastDiffering = -1;
        private long differing;

        /**
         * Against the sources of one connection.
         *
         * @param arrived how many elements, from the first on
         */
        RangeCheck(Layout layout, MemorySegment expected, long arrived) {
            this.layout = layout;
            this.expected = expected;
            this.arrived = arrived;
        }

        void compare(MemorySegment actual, long from) {
            long end = from + actual.byteSize();
            long count;
            for (long at = from; at < end; at += count) {
                int target = layout.targetAt(at);
                long within = at % layout.size();
                count = Math.min(layout.size() - within, end - at);
                if (target < 0 || target >= arrived) {
                    continue;
                }
                long source = layout.sourceOffset(target) + within;
                long mismatch =
                        MemorySegment.mismatch(actual, at - from, at - from + count, expected, source, source + count);
                if (mismatch >= 0 && target != lastDiffering) {
                    lastDiffering = target;
                    differing++;
                }
            }
        }

        long differing() {
            return differing;
        }
    }

    /**
     * Additions to words on the serving side, which begin at different values and are read back over another
     * connection: each has grown by the number of additions to it. Atomic operations fetch each value that the word
     * went through, once.
     */
    final class AddedContent implements Content {
        private final List<Driver> drivers;
        private final boolean fetching;
        private final SideChannel side;
        private final int words;
        private final MemoryRegion found;
        private final long[] expected;
        private final Content.FetchedValues[] passed;

        AddedContent(TransferEngine engine, Layout layout, List<Driver> drivers, boolean fetching, SideChannel side) {
            this.drivers = drivers;
            this.fetching = fetching;
            this.side = side;
            this.words = layout.targets();
            this.expected = new long[Math.multiplyExact(words, drivers.size())];
            this.passed = new Content.FetchedValues[drivers.size()];
            this.found = engine.allocate((long) Long.BYTES * expected.length, RegionOptions.local());
            Pattern.fill(found.segment(), expected.length);
            side.write(found);
            for (int i = 0; i < expected.length; i++) {
                expected[i] = found(i);
            }
            for (int i = 0; i < passed.length; i++) {
                passed[i] = new Content.FetchedValues();
            }
        }

        private long found(int index) {
            return found.segment().getAtIndex(ValueLayout.JAVA_LONG, index);
        }

        @Override
        public long differing(List<Long> submitted) {
            side.read(found, 0, 0, found.length());
            long differing = 0;
            for (int connection = 0; connection < submitted.size(); connection++) {
                differing += differing(connection, submitted.get(connection));
            }
            return differing;
        }

        /** Words that are not what they should be, and one more if what was fetched is not. */
        private long differing(int connection, long additions) {
            long differing = 0;
            Content.FetchedValues should = passed[connection];
            for (int word = 0; word < words; word++) {
                int index = connection * words + word;
                // They take the words in turn.
                long count = additions / words + (word < additions % words ? 1 : 0);
                should.addSuccessive(expected[index], count);
                expected[index] += count;
                if (found(index) != expected[index]) {
                    differing++;
                    expected[index] = found(index);
                }
            }
            Content.FetchedValues fetched = drivers.get(connection).fetched();
            if (fetching && !fetched.isSameAs(should)) {
                differing++;
                should.set(fetched);
            }
            return differing;
        }

        @Override
        public void close() {
            found.close();
        }
    }

    /** Payloads of notifications, which the serving process confirms by a checksum over payloads and their order. */
    final class NotifiedContent implements Content {
        private final List<Notifications> sent;
        private final List<ReportClient> reports = new ArrayList<>();

        NotifiedContent(List<Notifications> sent, List<Connection> connections) {
            this.sent = sent;
            for (Connection connection : connections) {
                ReportClient client = ReportClient.on(connection);
                client.beginChecksum();
                reports.add(client);
            }
        }

        @Override
        public long differing(List<Long> submitted) {
            long differing = 0;
            for (int i = 0; i < sent.size(); i++) {
                ReportClient.ServerReport report = reports.get(i).ask();
                if (report == null) {
                    throw BenchException.failed(
                            "the serving process does not report what it received: start it with this version of 'sluice"
                                    + " serve'");
                }
                Notifications.PayloadSum sum = sent.get(i).sum();
                if (report.notifications() != sum.count()) {
                    differing += Math.abs(report.notifications() - sum.count());
                } else if (report.checksum() != sum.value()) {
                    differing++;
                }
            }
            return differing;
        }
    }

    /** The content of reads: sources on the serving side, written there over another connection; targets here. */
    final class ReadContent implements Content {
        private final Layout layout;
        private final int iov;
        private final LocalMemory local;
        private final MemoryRegion reference;

        ReadContent(
                TransferEngine engine, Layout layout, int iov, LocalMemory local, int connections, SideChannel side) {
            this.layout = layout;
            this.iov = iov;
            this.local = local;
            this.reference = engine.allocate(
                    Math.multiplyExact(layout.sourceBytes(), (long) connections), RegionOptions.local());
            Pattern.fill(reference.segment(), layout.size());
            side.write(reference);
        }

        @Override
        public void renew() {
            // The content that was sent is never all zeros.
            local.image().fill((byte) 0);
            local.push();
        }

        @Override
        public long differing(List<Long> submitted) {
            local.pull();
            long differing = 0;
            for (int i = 0; i < submitted.size(); i++) {
                MemorySegment sources = reference.segment().asSlice(i * layout.sourceBytes(), layout.sourceBytes());
                long arrived = layout.arrived(submitted.get(i), iov);
                Content.RangeCheck check = new Content.RangeCheck(layout, sources, arrived);
                long bytes = layout.reached(arrived);
                check.compare(local.image().asSlice(i * layout.targetBytes(), bytes), 0);
                differing += check.differing();
            }
            return differing;
        }

        @Override
        public void close() {
            reference.close();
        }
    }

    /** The content of writes: sources here, targets on the serving side, which are read back over another connection. */
    final class WrittenContent implements Content {
        private static final long CHUNK_BYTES = 4L << 20;

        private final Layout layout;
        private final int iov;
        private final LocalMemory local;
        private final SideChannel side;
        private final MemoryRegion copy;
        private long rounds;

        WrittenContent(TransferEngine engine, Layout layout, int iov, LocalMemory local, SideChannel side) {
            this.layout = layout;
            this.iov = iov;
            this.local = local;
            this.side = side;
            this.copy = engine.allocate(CHUNK_BYTES, RegionOptions.local());
            renew();
        }

        @Override
        public void renew() {
            rounds++;
            Pattern.fill(local.image(), rounds << 32);
            local.push();
        }

        @Override
        public long differing(List<Long> submitted) {
            long differing = 0;
            for (int i = 0; i < submitted.size(); i++) {
                MemorySegment sources = local.image().asSlice(i * layout.sourceBytes(), layout.sourceBytes());
                long arrived = layout.arrived(submitted.get(i), iov);
                Content.RangeCheck check = new Content.RangeCheck(layout, sources, arrived);
                compare(check, i * layout.targetBytes(), layout.reached(arrived));
                differing += check.differing();
            }
            return differing;
        }

        private void compare(Content.RangeCheck check, long base, long bytes) {
            long count;
            for (long at = 0; at < bytes; at += count) {
                count = Math.min(CHUNK_BYTES, bytes - at);
                side.read(copy, 0, base + at, count);
                check.compare(copy.segment().asSlice(0, count), at);
            }
        }

        @Override
        public void close() {
            copy.close();
        }
    }
}
