package io.sluice.engine.session;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.LimitExceededException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.bootstrap.BootstrappedSession;
import io.sluice.engine.bootstrap.PeerTerms;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.GracefulClose;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.control.PeerText;
import io.sluice.engine.control.PendingSocket;
import io.sluice.engine.figures.SessionFigures;
import io.sluice.engine.flow.ConnectionEnd;
import io.sluice.engine.flow.ConnectionFlow;
import io.sluice.engine.flow.FlowCounters;
import io.sluice.engine.flow.TransferFactory;
import io.sluice.engine.memory.AskedChecksums;
import io.sluice.engine.memory.ExportTable;
import io.sluice.engine.memory.LocalRegion;
import io.sluice.engine.memory.RegionExchange;
import io.sluice.engine.memory.RegionRights;
import io.sluice.engine.memory.ServedChecksums;
import io.sluice.engine.progress.Observers;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.security.TlsStream;
import io.sluice.engine.transport.Deadline;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One side of a connection, on its loop: the control channel, and the connection's states from its bootstrap to its end.
 * Other threads use it through {@link DefaultConnection}.
 */
final class PeerSession
        implements BootstrappedSession,
                ConnectionPaths.Owner,
                FramedSocket.Handler,
                Drain.Owner,
                SessionFigures,
                PendingSocket {
    private static final Logger LOG = LoggerFactory.getLogger(PeerSession.class);
    private static final int MIN_CONTROL_BYTES = 128 * 1024;
    private static final long QUIESCENCE_CHECK_NANOS = 1_000_000;
    private static final long GOODBYE_GRACE_NANOS = 50_000_000;
    // longer before the connection opens: no transfer waits then, and giving up the wrong path would lose it
    private static final long SET_UP_GRACE_NANOS = 500_000_000;
    private static final byte[] EMPTY = {};

    private final EngineParts engine;
    private final EngineSessions sessions;
    private final Poller loop;
    private final FramedSocket control;
    private final PeerTerms terms;
    private final List<OpenTransport> transports;
    private final ConnectionPaths paths;
    private final ConnectionFlow flow;
    private final TransferFactory transfers;
    private final DefaultConnection connection;
    private final ExportTable exports;
    private final RegionExchange regions;
    private final AskedChecksums askedChecksums;
    private final ServedChecksums servedChecksums;
    private final NotificationExchange notifications;
    private final Liveness liveness;
    private final Drain drain;
    private final CompletableFuture<Connection> opened;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final CompletableFuture<Void> quiescent = new CompletableFuture<>();

    private @Nullable ConnectionEnd pathFailure;
    private boolean established;
    private boolean peerReady;
    private boolean open;
    private @Nullable ConnectionEnd over;

    private final Deadline openDeadline = new Deadline() {
        @Override
        protected void expired() {
            lost("the connection was not set up within the connect time-out");
        }
    };

    private final Deadline goodbyeGrace = new Deadline() {
        @Override
        protected void expired() {
            if (pathFailure != null) {
                end(pathFailure);
            }
        }
    };

    private final Deadline quiescenceCheck = new Deadline() {
        @Override
        protected void expired() {
            checkQuiescence();
        }
    };

    PeerSession(
            EngineParts engine,
            EngineSessions sessions,
            Poller loop,
            FramedSocket control,
            PeerTerms terms,
            List<OpenTransport> transports,
            long number,
            CompletableFuture<Connection> opened) {
        this.engine = engine;
        this.sessions = sessions;
        this.loop = loop;
        this.control = control;
        this.terms = terms;
        this.transports = transports;
        this.opened = opened;
        EngineOptions options = engine.options();
        this.connection = new DefaultConnection(this, engine.regions(), number, terms, transport());
        this.exports = new ExportTable(options.maxAttachedRegions());
        this.paths = new ConnectionPaths(engine, loop, control, terms, transports, exports, connection, this);
        try {
            flow = paths.flow();
            transfers = new TransferFactory(flow);
            regions = new RegionExchange(
                    engine.regions(),
                    connection,
                    paths.attaching(options),
                    exports,
                    control,
                    new RegionRights(options.authorizer(), terms.identity()),
                    loop);
            askedChecksums = new AskedChecksums(control);
            servedChecksums = new ServedChecksums(loop, exports, control);
            FlowCounters counters = engine.counters().flow(loop, transport());
            notifications = new NotificationExchange(loop, control, flow, counters, options);
            liveness = new Liveness(
                    loop,
                    control,
                    paths,
                    regions,
                    askedChecksums,
                    counters,
                    options.livenessTimeout().toNanos(),
                    terms.peerLivenessNanos(),
                    this::lost);
            drain = new Drain(this, loop, control, flow, terms.knowsDrain());
        } catch (RuntimeException | Error e) {
            // the paths are known to no other part yet
            paths.close();
            throw e;
        }
    }

    DefaultConnection connection() {
        return connection;
    }

    ConnectionFlow flow() {
        return flow;
    }

    TransferFactory transfers() {
        return transfers;
    }

    @Override
    public PeerTerms terms() {
        return terms;
    }

    @Override
    public Poller poller() {
        return loop;
    }

    @Override
    public OpenTransport transport() {
        return transports.getFirst();
    }

    @Override
    public List<OpenTransport> transports() {
        return transports;
    }

    ConnectionPaths paths() {
        return paths;
    }

    @Override
    public InFlightWindow window() {
        return flow.window();
    }

    @Override
    public int pending() {
        return flow.pending();
    }

    @Override
    public long lastReceived() {
        return control.lastReceived();
    }

    @Override
    public int lanes(OpenTransport transport, PathState state) {
        return paths.lanes(transport, state);
    }

    @Override
    public int rails(OpenTransport transport, PathState state) {
        return paths.rails(transport, state);
    }

    @Override
    public int notificationCredits() {
        return flow.notificationCredits();
    }

    @Override
    public int notificationsWaiting() {
        return flow.notificationsWaiting();
    }

    RegionExchange regions() {
        return regions;
    }

    AskedChecksums askedChecksums() {
        return askedChecksums;
    }

    NotificationInbox inbox() {
        return notifications.inbox();
    }

    @Override
    public List<byte[]> offers() {
        return paths.offers();
    }

    @Override
    public void discard() {
        paths.close();
    }

    @Override
    public void expectLanes() {
        sessions.expectLanes(this);
    }

    @Override
    public void laneArrived(int index, int descriptor, @Nullable TlsStream stream) {
        paths.laneArrived(index, descriptor, stream);
    }

    @Override
    public void begin(List<byte[]> peerOffers, long connectDeadline) {
        int maxControlBytes = Math.max(MIN_CONTROL_BYTES, engine.options().maxNotificationBytes());
        control.handler(this, maxControlBytes, false);
        loop.arm(openDeadline, connectDeadline);
        engine.unfinished().begun(this);
        if (sessions.begins(this)) {
            paths.begin(peerOffers);
        } else {
            end(new ConnectionEnd(
                    ConnectionEnd.Kind.LOST, EngineSessions.FULL, new LimitExceededException(EngineSessions.FULL)));
        }
    }

    @Override
    public void drained() {
        flow.notificationsSendable();
    }

    // ---- data path ----

    @Override
    public boolean isOver() {
        return over != null;
    }

    @Override
    public void established() {
        established = true;
        if (terms.initiator()) {
            control.send(MessageType.READY, EMPTY);
            open();
        } else if (peerReady) {
            open();
        }
    }

    @Override
    public void failed(EndpointAdapter path, SluiceException error) {
        failed(open ? error : paths.notSetUp(path, error));
    }

    void failed(SluiceException error) {
        ConnectionEnd reason = new ConnectionEnd(ConnectionEnd.Kind.LOST, String.valueOf(error.getMessage()), error);
        // with several paths, one may fail here because another has failed at the peer
        boolean maySayMore = open || (terms.initiator() && transports.size() > 1);
        if (!maySayMore || control.isClosed() || !loop.isRunning()) {
            end(reason);
        } else if (pathFailure == null) {
            // a peer that closes says why on the control channel; the end of its lanes may arrive before that
            pathFailure = reason;
            loop.arm(goodbyeGrace, loop.now() + (open ? GOODBYE_GRACE_NANOS : SET_UP_GRACE_NANOS));
        }
    }

    // ---- control channel ----

    @Override
    public void message(int type, ByteBuffer body) {
        if (!open && !isBeforeOpen(type)) {
            throw new ProtocolException("a control message of type " + type + " before the connection is open");
        }
        switch (type) {
            case MessageType.HEARTBEAT -> {}
            case MessageType.READY -> ready();
            case MessageType.ATTACH -> regions.attachAsked(body);
            case MessageType.DETACH -> regions.detachAsked(body);
            case MessageType.LOOKUP -> regions.lookupAsked(body);
            case MessageType.ATTACH_RESULT, MessageType.DETACH_RESULT, MessageType.LOOKUP_RESULT ->
                regions.answered(body);
            case MessageType.CHECKSUM -> servedChecksums.asked(body);
            case MessageType.CHECKSUM_RESULT -> askedChecksums.answered(body, loop.now());
            case MessageType.NOTIFY -> notifications.received(body);
            case MessageType.TRANSPORT -> paths.received(body);
            case MessageType.NOTIFY_PROGRESS -> notifications.progressed(body);
            case MessageType.DRAIN -> drain.asked(PeerText.read(body));
            case MessageType.DRAINED -> drain.peerDrained();
            case MessageType.GOODBYE ->
                end(new ConnectionEnd(
                        ConnectionEnd.Kind.CLOSED_BY_PEER,
                        "the peer closed the connection: " + PeerText.read(body),
                        null));
            case MessageType.GIVE_UP -> lost("the peer gave the connection up: " + PeerText.read(body));
            case MessageType.REJECT -> rejected(body);
            default -> throw new ProtocolException("a control message of unknown type " + type);
        }
    }

    @Override
    public boolean goOn() {
        return over != null || regions.goOn();
    }

    /** Whether a peer may send a message while the paths are set up: that it is ready, or why it gives up. */
    private static boolean isBeforeOpen(int type) {
        return type == MessageType.READY
                || type == MessageType.GOODBYE
                || type == MessageType.GIVE_UP
                || type == MessageType.REJECT;
    }

    /** The peer cannot set its end of the path up. */
    private void rejected(ByteBuffer body) {
        SluiceException cause = paths.rejected(body);
        end(new ConnectionEnd(ConnectionEnd.Kind.LOST, String.valueOf(cause.getMessage()), cause));
    }

    @Override
    public void broken(String reason, @Nullable Throwable cause) {
        // the peer closes the channel when it notices a broken lane, perhaps before this side does: the lane is the
        // reason
        end(
                pathFailure != null
                        ? pathFailure
                        : new ConnectionEnd(ConnectionEnd.Kind.LOST, "the control channel broke: " + reason, cause));
    }

    private void ready() {
        if (terms.initiator() || peerReady) {
            throw new ProtocolException("the peer is ready twice");
        }
        peerReady = true;
        if (established) {
            open();
        }
    }

    @Override
    public void notified(byte[] payload) {
        notifications.received(payload);
    }

    // ---- life ----

    private void open() {
        if (over != null) {
            return;
        }
        open = true;
        loop.disarm(openDeadline);
        liveness.begin();
        LOG.debug("{} is open", connection);
        engine.counters().opened(this, terms.peer(), loop, flow);
        observe(ConnectionState.OPEN, "");
        sessions.opened(this);
        engine.unfinished().finished(this);
        opened.complete(connection);
    }

    private void observe(ConnectionState state, String reason) {
        Observers notified = engine.observers();
        if (notified != null) {
            notified.connectionChanged(connection, state, reason);
        }
    }

    void regionClosing(LocalRegion region) {
        if (over != null) {
            exports.removeAll(region, handle -> {});
            return;
        }
        try {
            liveness.regionClosing(region);
            exports.removeAll(region, paths::exportEnded);
            paths.regionClosing();
        } catch (RuntimeException | Error e) {
            // a peer that was not notified would go on using the region: only the end of the connection prevents that
            LOG.error("{} ends, since its peer could not be notified that {} is closed", connection, region, e);
            end(new ConnectionEnd(
                    ConnectionEnd.Kind.LOST, "this side could not notify the peer that a region is closed", e));
        }
    }

    /** When the connection is over; exceptionally if the peer was lost. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    /** When the connection is over and nothing of it touches memory. */
    CompletableFuture<Void> quiescent() {
        return quiescent;
    }

    /** The error of requests after the end; null while the connection is not over. */
    @Nullable
    SluiceException endError() {
        return over == null ? null : over.error();
    }

    @Override
    public void abort() {
        closeHere();
    }

    // ---- the end in order ----

    /** Closes the connection when the transfers in flight have ended, or the time is up. */
    void shutdown(long patienceNanos) {
        if (over != null) {
            return;
        }
        if (!open) {
            closeHere();
            return;
        }
        drain.close(patienceNanos);
    }

    @Override
    public void draining(ConnectionEnd why) {
        connection.moveTo(ConnectionState.DRAINING);
        flow.refuse(why);
        observe(ConnectionState.DRAINING, why.reason());
    }

    @Override
    public void closeDrained() {
        end(new ConnectionEnd(ConnectionEnd.Kind.CLOSED_HERE, "the connection was shut down on this side", null));
    }

    void closeHere() {
        end(new ConnectionEnd(ConnectionEnd.Kind.CLOSED_HERE, "the connection was closed on this side", null));
    }

    private void lost(String reason) {
        end(new ConnectionEnd(ConnectionEnd.Kind.LOST, reason, null));
    }

    /** Ends the connection; the first reason counts. */
    private void end(ConnectionEnd why) {
        if (over != null) {
            return;
        }
        over = why;
        boolean lost = why.kind() == ConnectionEnd.Kind.LOST;
        connection.moveTo(lost ? ConnectionState.LOST : ConnectionState.CLOSED);
        loop.disarm(openDeadline);
        liveness.end();
        loop.disarm(goodbyeGrace);
        loop.disarm(drain);
        flow.stop(why);
        // each step must run even if another fails: each has its waiters
        step(() -> sayGoodbye(why)); // before the lanes close, so that the peer learns of it in this order
        step(paths::close);
        step(flow::endAll);
        step(() -> regions.failAll(why.error()));
        step(() -> askedChecksums.failAll(why.error()));
        step(servedChecksums::stop);
        step(() -> notifications.end(lost ? why.error() : null));
        step(paths::abortLanes);
        step(() -> sessions.ended(this, why));
        engine.unfinished().finished(this);
        if (open) {
            engine.counters().ended(this, terms.peer(), loop, lost);
            observe(connection.state(), why.reason());
        }
        if (!open) {
            opened.completeExceptionally(why.notOpened());
        } else if (lost) {
            LOG.info("{} is lost: {}", connection, why.reason());
        }
        if (lost) {
            ended.completeExceptionally(why.error());
        } else {
            ended.complete(null);
        }
        checkQuiescence();
    }

    private void sayGoodbye(ConnectionEnd why) {
        if (why.kind() == ConnectionEnd.Kind.CLOSED_HERE && !control.isClosed()) {
            step(notifications::sendDueProgress);
            GracefulClose.say(engine.unfinished(), loop, control, why.reason());
        } else if (why.kind() == ConnectionEnd.Kind.CLOSED_BY_PEER) {
            paths.peerClosed();
            control.reset();
        } else {
            byte[] rejection = open ? null : paths.rejection(why);
            if (rejection != null) {
                control.send(MessageType.REJECT, rejection);
            } else if (why.kind() == ConnectionEnd.Kind.LOST) {
                // so that both sides can report the cause; if the channel is broken as well, nothing is lost
                control.send(MessageType.GIVE_UP, PeerText.write(why.reason()));
            }
            control.close();
        }
    }

    private void step(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException | Error e) {
            LOG.error("an unexpected error at the end of {}", connection, e);
        }
    }

    private void checkQuiescence() {
        if (paths.isQuiescent()) {
            quiescent.complete(null);
        } else {
            loop.arm(quiescenceCheck, loop.now() + QUIESCENCE_CHECK_NANOS);
        }
    }
}
