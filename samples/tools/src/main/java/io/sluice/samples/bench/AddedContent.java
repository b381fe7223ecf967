package io.sluice.samples.bench;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * What additions make of words on the serving side, which begin at different values and are read back over another
 * connection: each has grown by the number of additions to it. What atomic operations fetched is each value that the word
 * went through, once.
 */
final class AddedContent implements Content {

    private final List<Driver> drivers;
    private final boolean fetching;
    private final SideChannel side;
    private final int words;
    private final MemoryRegion found;
    private final long[] expected;
    private final FetchedValues[] passed;

    AddedContent(TransferEngine engine, Layout layout, List<Driver> drivers, boolean fetching, SideChannel side) {
        this.drivers = drivers;
        this.fetching = fetching;
        this.side = side;
        this.words = layout.targets();
        this.expected = new long[Math.multiplyExact(words, drivers.size())];
        this.passed = new FetchedValues[drivers.size()];
        this.found = engine.allocate((long) Long.BYTES * expected.length, RegionOptions.local());
        Pattern.fill(found.segment(), expected.length);
        side.write(found, side.remote());
        for (int i = 0; i < expected.length; i++) {
            expected[i] = found(i);
        }
        for (int i = 0; i < passed.length; i++) {
            passed[i] = new FetchedValues();
        }
    }

    private long found(int index) {
        return found.segment().getAtIndex(ValueLayout.JAVA_LONG, index);
    }

    @Override
    public long differing(List<Long> submitted) {
        side.read(found, side.remote(), 0, found.length());
        long differing = 0;
        for (int connection = 0; connection < submitted.size(); connection++) {
            differing += differing(connection, submitted.get(connection));
        }
        return differing;
    }

    /** Words that are not what they should be, and one more if what was fetched is not. */
    private long differing(int connection, long additions) {
        long differing = 0;
        FetchedValues should = passed[connection];
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
        FetchedValues fetched = drivers.get(connection).fetched();
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
