package io.sluice.engine.figures;

import io.sluice.engine.EngineId;
import io.sluice.engine.PeerMetrics;
import io.sluice.engine.flow.InlineCounters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * The peers of an engine's connections, and a bounded number of earlier ones. Thread-safe; the lock is held briefly,
 * when a connection opens or ends or a reader asks.
 */
final class Peers {
    /** How many ended ones are kept. */
    static final int MAX_ENDED = 1024;

    private static final int NOT_LOST = -1;
    private static final long LOST_NANOS = Duration.ofMinutes(10).toNanos();

    /** A peer, and how the last connection to it ended. */
    private static final class Entry {
        private final PeerFigures figures;
        // its transport if it was lost, until there is another connection
        private int lostOn = NOT_LOST;
        private long endedAt;

        Entry(PeerFigures figures) {
            this.figures = figures;
        }

        long sumOfCallers(int transport, ToLongFunction<InlineCounters> figure) {
            InlineCounters counters = figures.callerThread(transport);
            return counters == null ? 0 : figure.applyAsLong(counters);
        }
    }

    private final int pollers;
    private final int transports;
    private final InlineCounters[] dropped;
    private final InlineCounters noCallers = new InlineCounters();
    private final Map<EngineId, Entry> connected = new HashMap<>();
    // the longest ended first
    private final LinkedHashMap<EngineId, Entry> ended = new LinkedHashMap<>();

    Peers(int pollers, int transports) {
        this.pollers = pollers;
        this.transports = transports;
        this.dropped = new InlineCounters[transports];
        for (int i = 0; i < transports; i++) {
            dropped[i] = new InlineCounters();
        }
    }

    /** The counters of a new connection, and whether the peer was lost before. */
    record Opened(PeerFigures figures, InlineCounters callers, boolean reconnected) {}

    /** For connections that are not open, which have no callers. */
    InlineCounters noCallers() {
        return noCallers;
    }

    /** A connection opens. */
    synchronized Opened opened(SessionFigures session, EngineId peer, int transport, boolean hasCallers) {
        Entry entry = connected.get(peer);
        if (entry == null) {
            entry = ended.remove(peer);
            if (entry == null) {
                entry = new Entry(new PeerFigures(peer, pollers, transports));
            }
            connected.put(peer, entry);
        }
        boolean reconnected = entry.lostOn != NOT_LOST;
        entry.lostOn = NOT_LOST;
        entry.figures.opened(session);
        InlineCounters callers = hasCallers ? entry.figures.makeCallerThread(transport) : noCallers;
        return new Opened(entry.figures, callers, reconnected);
    }

    /** The counters of callers on a transport of a peer. */
    synchronized InlineCounters callers(PeerFigures peer, int transport) {
        return peer.makeCallerThread(transport);
    }

    /** A connection that was open has ended. */
    synchronized void ended(SessionFigures session, EngineId peer, int transport, boolean lost) {
        Entry entry = connected.get(peer);
        if (entry == null || !entry.figures.ended(session)) {
            return;
        }
        connected.remove(peer);
        entry.lostOn = lost ? transport : NOT_LOST;
        entry.endedAt = System.nanoTime();
        ended.put(peer, entry);
        if (ended.size() > MAX_ENDED) {
            Iterator<Entry> first = ended.values().iterator();
            PeerFigures longest = first.next().figures;
            first.remove();
            for (int i = 0; i < transports; i++) {
                InlineCounters counters = longest.callerThread(i);
                if (counters != null) {
                    dropped[i].add(counters);
                }
            }
        }
    }

    /** The number of peers lost on a transport recently that have no connection now. */
    synchronized int lost(int transport) {
        long now = System.nanoTime();
        return (int) ended.values().stream()
                .filter(entry -> entry.lostOn == transport && now - entry.endedAt < LOST_NANOS)
                .count();
    }

    synchronized List<PeerMetrics> all() {
        List<PeerMetrics> all = new ArrayList<>(connected.size() + ended.size());
        connected.values().forEach(entry -> all.add(entry.figures));
        ended.values().forEach(entry -> all.add(entry.figures));
        return List.copyOf(all);
    }

    /** Adds up what all callers have executed themselves over a transport. */
    synchronized long sumOfCallers(int transport, ToLongFunction<InlineCounters> figure) {
        long sum = figure.applyAsLong(dropped[transport]);
        for (Entry entry : connected.values()) {
            sum += entry.sumOfCallers(transport, figure);
        }
        for (Entry entry : ended.values()) {
            sum += entry.sumOfCallers(transport, figure);
        }
        return sum;
    }
}
