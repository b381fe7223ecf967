package io.sluice.engine.flow;

import java.util.concurrent.atomic.LongAdder;

/**
 * What a connection counts into.
 *
 * @param transport those of its transport on its poller
 * @param peer those of its peer on its poller
 * @param callerThread what callers execute themselves, of its peer and transport
 * @param refused what was submitted after the connection's end, of its transport
 * @param overflows submissions that the engine has refused because too many transfers were pending
 */
public record ConnectionCounters(
        FlowCounters transport,
        PeerTally peer,
        InlineCounters callerThread,
        RefusedSubmissions refused,
        LongAdder overflows) {
    /**
     * Of a connection that shares them with no other.
     *
     * @return all zero
     */
    public static ConnectionCounters alone() {
        return new ConnectionCounters(
                new FlowCounters(), new PeerTally(), new InlineCounters(), new RefusedSubmissions(), new LongAdder());
    }
}
