package io.sluice.engine.figures;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.ErrorKind;
import io.sluice.engine.LatencyHistogram;
import io.sluice.engine.TransportMetrics;
import io.sluice.engine.flow.FlowCounter;
import io.sluice.engine.flow.FlowCounters;
import io.sluice.engine.flow.InlineCounters;
import io.sluice.engine.flow.LatencyKind;
import io.sluice.engine.flow.RefusedSubmissions;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.transport.WireCounter;
import java.util.Collection;
import java.util.List;
import java.util.function.ToLongFunction;

/** The metrics of one transport, summed at each read over the counters of pollers and of callers' threads. */
final class TransportFigures implements TransportMetrics {
    private final OpenTransport transport;
    private final List<FlowCounters> byPoller;
    private final RefusedSubmissions refused;
    private final Peers peers;
    private final Collection<? extends SessionFigures> sessions;
    private final boolean hasCallers;

    /**
     * Of a transport.
     *
     * @param byPoller what its connections count into
     * @param sessions the open connections of all transports
     */
    TransportFigures(
            OpenTransport transport,
            List<FlowCounters> byPoller,
            EngineCounters counters,
            Collection<? extends SessionFigures> sessions) {
        this.transport = transport;
        this.byPoller = byPoller;
        this.refused = counters.refused(transport);
        this.peers = counters.peers();
        this.sessions = sessions;
        this.hasCallers = transport.transport().capabilities().callerThreadBytes() > 0;
    }

    private long sum(ToLongFunction<FlowCounters> figure) {
        long sum = 0;
        for (FlowCounters counters : byPoller) {
            sum += figure.applyAsLong(counters);
        }
        return sum;
    }

    private long sum(FlowCounter counter) {
        return sum(counters -> counters.get(counter));
    }

    private long sumOfCallers(ToLongFunction<InlineCounters> figure) {
        return hasCallers ? peers.sumOfCallers(transport.index(), figure) : 0;
    }

    private long sumOfSessions(ToLongFunction<SessionFigures> figure) {
        long sum = 0;
        for (SessionFigures session : sessions) {
            if (session.transport().equals(transport)) {
                sum += figure.applyAsLong(session);
            }
        }
        return sum;
    }

    @Override
    public String name() {
        return transport.name();
    }

    // ---- operations ----

    @Override
    public long operations(Operation operation, Outcome outcome) {
        long byCallers = switch (outcome) {
            case SUCCESS -> sumOfCallers(callers -> callers.operations(operation));
            case CANCELLED -> sumOfCallers(callers -> callers.cancelled(operation));
            case ERROR -> refused.operations(operation);
            case TIMEOUT -> 0;
        };
        return sum(counters -> counters.operations(operation, outcome)) + byCallers;
    }

    @Override
    public long bytes(Operation operation, Outcome outcome) {
        long byCallers = switch (outcome) {
            case SUCCESS -> sumOfCallers(callers -> callers.bytes(operation));
            case CANCELLED -> sumOfCallers(callers -> callers.cancelledBytes(operation));
            case ERROR -> refused.bytes(operation);
            case TIMEOUT -> 0;
        };
        return sum(counters -> counters.bytes(operation, outcome)) + byCallers;
    }

    @Override
    public long errors(ErrorKind kind) {
        return sum(counters -> counters.errors(kind)) + refused.errors(kind);
    }

    @Override
    public LatencyHistogram duration(Operation operation) {
        return histogram(operation, LatencyKind.DURATION);
    }

    @Override
    public LatencyHistogram creditWait(Operation operation) {
        return histogram(operation, LatencyKind.CREDIT_WAIT);
    }

    @Override
    public LatencyHistogram completion(Operation operation) {
        return histogram(operation, LatencyKind.COMPLETION);
    }

    private LatencyHistogram histogram(Operation operation, LatencyKind kind) {
        long[] counts = new long[LatencyHistogram.boundsNanos().length + 1];
        long nanos = sum(counters -> counters.addTo(operation, kind, counts))
                + sumOfCallers(callers -> callers.addTo(operation, kind, counts));
        return new LatencyHistogram(counts, nanos);
    }

    // ---- the data path ----

    @Override
    public long wireBytesSent() {
        return sum(counters -> counters.get(WireCounter.SENT)) + carriedOut(Operation.WRITE);
    }

    @Override
    public long wireBytesReceived() {
        return sum(counters -> counters.get(WireCounter.RECEIVED)) + carriedOut(Operation.READ);
    }

    /** The bytes that callers have moved themselves, including those of transfers cancelled meanwhile. */
    private long carriedOut(Operation operation) {
        return sumOfCallers(callers -> callers.bytes(operation) + callers.cancelledBytes(operation));
    }

    @Override
    public long chunks() {
        return sum(FlowCounter.CHUNKS);
    }

    @Override
    public long resentChunks() {
        return sum(counters -> counters.get(WireCounter.RESENT_CHUNKS));
    }

    @Override
    public long fences() {
        return sum(counters -> counters.get(WireCounter.FENCES));
    }

    @Override
    public int queueDepth() {
        // the completions first: what completes meanwhile then counts as posted
        long completed = sum(FlowCounter.COMPLETIONS);
        return (int) Math.max(0, sum(FlowCounter.CHUNKS) - completed);
    }

    @Override
    public long servedWriteBytes() {
        return sum(FlowCounter.SERVED_WRITE_BYTES);
    }

    @Override
    public long servedReadBytes() {
        return sum(FlowCounter.SERVED_READ_BYTES);
    }

    @Override
    public long refused() {
        return sum(FlowCounter.REFUSED);
    }

    // ---- connections ----

    @Override
    public int connections() {
        return (int) sumOfSessions(session -> 1);
    }

    @Override
    public int lostPeers() {
        return peers.lost(transport.index());
    }

    @Override
    public long connectionsOpened() {
        return sum(FlowCounter.CONNECTIONS_OPENED);
    }

    @Override
    public long connectionsLost() {
        return sum(FlowCounter.CONNECTIONS_LOST);
    }

    @Override
    public long connectionsReconnected() {
        return sum(FlowCounter.CONNECTIONS_RECONNECTED);
    }

    @Override
    public int lanes(PathState state) {
        return sessions.stream()
                .mapToInt(session -> session.lanes(transport, state))
                .sum();
    }

    @Override
    public int rails(PathState state) {
        return sessions.stream()
                .mapToInt(session -> session.rails(transport, state))
                .sum();
    }

    @Override
    public long heartbeatsMissed() {
        return sum(FlowCounter.HEARTBEATS_MISSED);
    }

    // ---- notifications ----

    @Override
    public long notificationsReceived() {
        return sum(FlowCounter.NOTIFICATIONS_RECEIVED);
    }

    @Override
    public long notificationCredits() {
        return sumOfSessions(session -> session.notificationCredits());
    }

    @Override
    public int notificationsWaiting() {
        return (int) sumOfSessions(session -> session.notificationsWaiting());
    }
}
