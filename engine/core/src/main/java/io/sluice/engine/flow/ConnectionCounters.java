package io.sluice.engine.flow;

import java.util.concurrent.atomic.LongAdder;

/**
 * The counters that a connection updates.
 *
 * @param transport the counters of its transport on its poller
 * @param peer the counters of its peer on its poller
 * @param callerThread the counters of transfers that callers execute themselves, of its peer and transport
 * @param refused the counters of submissions after the connection's end, of its transport
 * @param overflows counts submissions that the engine refused because too many transfers were pending
 */
public record ConnectionCounters(
        FlowCounters transport,
        PeerTally peer,
        InlineCounters callerThread,
        RefusedSubmissions refused,
        LongAdder overflows) {
    /**
     * Returns the counters of a connection that shares them with no other.
     *
     * @return counters, all zero
     */
    public static ConnectionCounters alone() {
        return new ConnectionCounters(
                new FlowCounters(), new PeerTally(), new InlineCounters(), new RefusedSubmissions(), new LongAdder());
    }
}
