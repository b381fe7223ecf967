package io.sluice.engine.bootstrap;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Accepted sockets for which there is no place yet: each costs a descriptor and almost no memory. Each source address
 * has its own queue, so that none waits behind another's. Confined to the listener's loop.
 */
final class WaitingSockets {
    static final int NONE = -1;

    private final int limit;
    private final Map<Long, ArrayDeque<Integer>> bySource = new LinkedHashMap<>();
    private int count;

    WaitingSockets(int limit) {
        this.limit = limit;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /**
     * Adds one behind the others of its source.
     *
     * @return the one for which there is no room, of the source with most of them and perhaps the one that was added; or
     *     {@link #NONE}
     */
    int add(long source, int descriptor) {
        bySource.computeIfAbsent(source, unknown -> new ArrayDeque<>()).addLast(descriptor);
        return ++count > limit ? dropOne() : NONE;
    }

    /** Takes the youngest of the source with most of them; {@link #NONE} if there is none. */
    int dropOne() {
        Map.Entry<Long, ArrayDeque<Integer>> most = null;
        for (Map.Entry<Long, ArrayDeque<Integer>> each : bySource.entrySet()) {
            if (most == null || each.getValue().size() > most.getValue().size()) {
                most = each;
            }
        }
        if (most == null) {
            return NONE;
        }
        int dropped = most.getValue().removeLast();
        if (most.getValue().isEmpty()) {
            bySource.remove(most.getKey());
        }
        count--;
        return dropped;
    }

    /** Offers the oldest of each source in turn, for as long as some are wanted. */
    void offer(Taker taker) {
        boolean some = true;
        while (some && count > 0) {
            some = false;
            Iterator<Map.Entry<Long, ArrayDeque<Integer>>> each =
                    bySource.entrySet().iterator();
            while (each.hasNext()) {
                Map.Entry<Long, ArrayDeque<Integer>> next = each.next();
                if (taker.takes(next.getKey(), next.getValue().getFirst())) {
                    some = true;
                    next.getValue().removeFirst();
                    count--;
                    if (next.getValue().isEmpty()) {
                        each.remove();
                    }
                }
            }
        }
    }

    boolean hasOf(long source) {
        return bySource.containsKey(source);
    }

    /** Decides whether one that waits may go on. */
    @FunctionalInterface
    interface Taker {
        boolean takes(long source, int descriptor);
    }
}
