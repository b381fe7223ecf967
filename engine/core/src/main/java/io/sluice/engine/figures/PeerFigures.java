package io.sluice.engine.figures;

import io.sluice.engine.EngineId;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.PeerMetrics;
import io.sluice.engine.flow.InlineCounters;
import io.sluice.engine.flow.PeerTally;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one peer. Each poller has a tally of its own here, so that connections that come and go leave their
 * figures behind without being asked for them.
 */
final class PeerFigures implements PeerMetrics {
    private final EngineId peer;
    private final PeerTally[] byPoller;
    // of the transports with connections whose callers may carry something out themselves
    private final AtomicReferenceArray<@Nullable InlineCounters> byTransport;
    private final Set<SessionFigures> sessions = ConcurrentHashMap.newKeySet();
    private volatile long lastHeard = System.nanoTime();

    PeerFigures(EngineId peer, int pollers, int transports) {
        this.peer = peer;
        this.byPoller = new PeerTally[pollers];
        for (int i = 0; i < pollers; i++) {
            byPoller[i] = new PeerTally();
        }
        this.byTransport = new AtomicReferenceArray<>(transports);
    }

    PeerTally tally(int poller) {
        return byPoller[poller];
    }

    /** The counters of callers on a transport, created if absent; called by one thread at a time. */
    InlineCounters makeCallerThread(int transport) {
        InlineCounters counters = byTransport.get(transport);
        if (counters == null) {
            counters = new InlineCounters();
            byTransport.set(transport, counters);
        }
        return counters;
    }

    @Nullable
    InlineCounters callerThread(int transport) {
        return byTransport.get(transport);
    }

    void opened(SessionFigures session) {
        sessions.add(session);
    }

    /** Returns whether it was the last one. */
    boolean ended(SessionFigures session) {
        sessions.remove(session);
        lastHeard = Math.max(lastHeard, session.lastReceived());
        return sessions.isEmpty();
    }

    private long sum(ToLongFunction<PeerTally> figure, ToLongFunction<InlineCounters> ofCallers) {
        long sum = 0;
        for (PeerTally tally : byPoller) {
            sum += figure.applyAsLong(tally);
        }
        for (int i = 0; i < byTransport.length(); i++) {
            InlineCounters counters = byTransport.get(i);
            sum += counters == null ? 0 : ofCallers.applyAsLong(counters);
        }
        return sum;
    }

    @Override
    public EngineId peer() {
        return peer;
    }

    @Override
    public boolean isConnected() {
        return !sessions.isEmpty();
    }

    @Override
    public long operations() {
        return sum(
                PeerTally::operations,
                callers -> callers.operations(Operation.WRITE) + callers.operations(Operation.READ));
    }

    @Override
    public long errors() {
        return sum(PeerTally::errors, callers -> 0);
    }

    @Override
    public long bytes() {
        return sum(PeerTally::bytes, callers -> callers.bytes(Operation.WRITE) + callers.bytes(Operation.READ));
    }

    @Override
    public long durationNanos() {
        return sum(PeerTally::nanos, callers -> callers.nanos(Operation.WRITE) + callers.nanos(Operation.READ));
    }

    @Override
    public long inFlightOperations() {
        return sessions.stream()
                .mapToLong(session -> session.window().operations())
                .sum();
    }

    @Override
    public int pending() {
        return sessions.stream().mapToInt(SessionFigures::pending).sum();
    }

    @Override
    public long silenceNanos() {
        long heard = lastHeard;
        for (SessionFigures session : sessions) {
            heard = Math.max(heard, session.lastReceived());
        }
        return Math.max(0, System.nanoTime() - heard);
    }

    @Override
    public String toString() {
        return "PeerMetrics[" + peer + (isConnected() ? "]" : ", ended]");
    }
}
