package io.sluice.engine.figures;

import io.sluice.engine.EngineId;
import io.sluice.engine.flow.ConnectionCounters;
import io.sluice.engine.flow.ConnectionFlow;
import io.sluice.engine.flow.FlowCounter;
import io.sluice.engine.flow.FlowCounters;
import io.sluice.engine.flow.InlineCounters;
import io.sluice.engine.flow.PeerTally;
import io.sluice.engine.flow.RefusedSubmissions;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.providers.OpenTransport;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;

/** The counters of an engine's connections. */
public final class EngineCounters {
    // by poller and transport
    private final FlowCounters[][] flows;
    private final RefusedSubmissions[] refused;
    private final LongAdder pendingOverflows = new LongAdder();
    private final Peers peers;

    public EngineCounters(int pollers, int transports) {
        this.flows = new FlowCounters[pollers][transports];
        for (FlowCounters[] ofPoller : flows) {
            Arrays.setAll(ofPoller, transport -> new FlowCounters());
        }
        this.refused = new RefusedSubmissions[transports];
        Arrays.setAll(refused, transport -> new RefusedSubmissions());
        this.peers = new Peers(pollers, transports);
    }

    /** The counters of a transport's connections on a poller. */
    public FlowCounters flow(Poller poller, OpenTransport transport) {
        return flows[poller.index()][transport.index()];
    }

    /** The counters of all connections on a poller, by transport. */
    FlowCounters[] flows(Poller poller) {
        return flows[poller.index()];
    }

    /** The counters of a connection that is not open yet, and has no callers. */
    public ConnectionCounters connection(Poller poller, OpenTransport transport) {
        return new ConnectionCounters(
                flow(poller, transport), new PeerTally(), peers.noCallers(), refused(transport), pendingOverflows);
    }

    /** The submissions to connections of a transport that had ended. */
    RefusedSubmissions refused(OpenTransport transport) {
        return refused[transport.index()];
    }

    /** Submissions that were refused because too many transfers were pending. */
    long pendingOverflows() {
        return pendingOverflows.sum();
    }

    /** A connection opens: its transfers count for its peer from here on. On its poller. */
    public void opened(SessionFigures session, EngineId peer, Poller poller, ConnectionFlow flow) {
        OpenTransport transport = session.transport();
        Peers.Opened known = peers.opened(
                session,
                peer,
                transport.index(),
                transport.transport().capabilities().callerThreadBytes() > 0);
        flow.countInto(
                known.figures().tally(poller.index()),
                session.transports().stream()
                        .map(each -> each.equals(transport) ? known.callers() : callers(known, each))
                        .toList());
        FlowCounters counters = flow(poller, transport);
        counters.add(FlowCounter.CONNECTIONS_OPENED, 1);
        if (known.reconnected()) {
            counters.add(FlowCounter.CONNECTIONS_RECONNECTED, 1);
        }
    }

    private InlineCounters callers(Peers.Opened known, OpenTransport transport) {
        return transport.transport().capabilities().callerThreadBytes() > 0
                ? peers.callers(known.figures(), transport.index())
                : peers.noCallers();
    }

    /** A connection that was open has ended. On its poller. */
    public void ended(SessionFigures session, EngineId peer, Poller poller, boolean lost) {
        OpenTransport transport = session.transport();
        if (lost) {
            flow(poller, transport).add(FlowCounter.CONNECTIONS_LOST, 1);
        }
        peers.ended(session, peer, transport.index(), lost);
    }

    Peers peers() {
        return peers;
    }
}
