package io.sluice.collectives.run;

import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.IntConsumer;

/** Ranks that were lost or have left; only grows. Any thread reads; the loop adds ranks and listeners. */
public final class FailedRanks extends AbstractSet<Integer> {
    private final Set<Integer> ranks = new ConcurrentSkipListSet<>();
    private final List<IntConsumer> listeners = new ArrayList<>();

    @Override
    public Iterator<Integer> iterator() {
        return ranks.iterator();
    }

    @Override
    public int size() {
        return ranks.size();
    }

    @Override
    public boolean isEmpty() {
        return ranks.isEmpty();
    }

    @Override
    public boolean contains(Object rank) {
        return ranks.contains(rank);
    }

    @Override
    public boolean add(Integer rank) {
        boolean added = ranks.add(rank);
        for (int i = 0; added && i < listeners.size(); i++) {
            listeners.get(i).accept(rank);
        }
        return added;
    }

    /** Adds a listener, and calls it for the ranks that there are. The loop's. */
    public void listen(IntConsumer listener) {
        listeners.add(listener);
        ranks.forEach(listener::accept);
    }
}
