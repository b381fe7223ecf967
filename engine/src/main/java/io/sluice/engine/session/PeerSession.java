package io.sluice.engine.session;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.Integrity;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.flow.ConnectionCounters;
import io.sluice.engine.flow.ConnectionEnd;
import io.sluice.engine.flow.ConnectionFlow;
import io.sluice.engine.flow.FlowCounter;
import io.sluice.engine.flow.FlowCounters;
import io.sluice.engine.flow.PeerTally;
import io.sluice.engine.flow.TransferFactory;
import io.sluice.engine.progress.Observers;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.security.TlsStream;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.ExposedRegion;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.Sockets;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One side of a connection, on its loop: control channel, endpoint, liveness, and the end. {@link PeerConnection} is its face
 * to other threads.
 */
final class PeerSession implements EndpointContext, FramedSocket.Handler, SessionFigures, Unfinished {
    private static final Logger LOG = LoggerFactory.getLogger(PeerSession.class);
    private static final int TICKS_A_LIVENESS = 8;
    private static final int TICKS_A_HEARTBEAT = 2;
    private static final long QUIESCENCE_CHECK_NANOS = 1_000_000;
    private static final long GOODBYE_GRACE_NANOS = 50_000_000;
    private static final byte[] EMPTY = {};

    private final LocalEngine engine;
    private final Poller loop;
    private final FramedSocket control;
    private final PeerTerms terms;
    private final OpenTransport transport;
    private final FlowCounters counters;
    private final Endpoint endpoint;
    private final ConnectionFlow flow;
    private final TransferFactory transfers;
    private final PeerConnection connection;
    private final ExposureTable exposures;
    private final RegionExchange regions;
    private final AskedChecksums askedChecksums;
    private final ServedChecksums servedChecksums;
    private final NotificationInbox inbox;
    private final CompletableFuture<PeerConnection> opened;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final CompletableFuture<Void> quiescent = new CompletableFuture<>();
    private final long livenessNanos;
    private final long tickNanos;
    private final BitSet lanes = new BitSet();
    private final List<LaneConnector> connectors = new ArrayList<>();
    private final Map<LocalRegion, Long> closingRegions = new HashMap<>();
    private final Runnable sendNotifyProgress = this::sendNotifyProgress;

    private @Nullable ConnectionEnd pathFailure;
    private boolean established;
    private boolean peerReady;
    private boolean open;
    private @Nullable ConnectionEnd over;
    private @Nullable Drain drain;
    private boolean notifyProgressDue;
    private int tick;
    private long missedHeartbeats;

    private final Deadline openDeadline = new Deadline() {
        @Override
        protected void expired() {
            end(new ConnectionEnd(
                    ConnectionEnd.Kind.LOST, "the connection was not set up within the connect time-out", null));
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

    private final Deadline ticker = new Deadline() {
        @Override
        protected void expired() {
            tick();
        }
    };

    private final Deadline quiescenceCheck = new Deadline() {
        @Override
        protected void expired() {
            checkQuiescence();
        }
    };

    PeerSession(
            LocalEngine engine,
            Poller loop,
            FramedSocket control,
            PeerTerms terms,
            OpenTransport transport,
            CompletableFuture<PeerConnection> opened) {
        this.engine = engine;
        this.loop = loop;
        this.control = control;
        this.terms = terms;
        this.transport = transport;
        this.counters = engine.counters(loop, transport);
        this.opened = opened;
        EngineOptions options = engine.options();
        this.livenessNanos = options.livenessTimeout().toNanos();
        this.tickNanos = Math.min(livenessNanos, terms.peerLivenessNanos()) / TICKS_A_LIVENESS;
        this.endpoint = transport.transport().endpoint(this);
        this.connection = new PeerConnection(this, engine.nextConnectionNumber(), terms, transport.name());
        NotificationSender ofEndpoint = endpoint.notificationSender();
        this.flow = new ConnectionFlow(
                connection,
                loop,
                new ConnectionCounters(
                        counters,
                        new PeerTally(),
                        engine.peers().noCallers(),
                        engine.refusedSubmissions(transport),
                        engine.pendingOverflows()),
                options,
                engine.engineWindow(),
                transport.transport().capabilities(),
                transport.index(),
                endpoint,
                ofEndpoint == null ? new ControlChannelNotifications() : ofEndpoint,
                terms.notificationCredits());
        this.transfers = new TransferFactory(flow);
        this.exposures = new ExposureTable(options.maxAttachedRegions());
        this.regions = new RegionExchange(
                engine,
                connection,
                transport.index(),
                endpoint,
                exposures,
                control,
                engine.rightsOf(terms.identity()),
                loop);
        this.askedChecksums = new AskedChecksums(control);
        this.servedChecksums = new ServedChecksums(loop, exposures, control);
        this.inbox = new NotificationInbox(options.notificationCredits(), this::notifyProgress);
    }

    PeerConnection connection() {
        return connection;
    }

    ConnectionFlow flow() {
        return flow;
    }

    TransferFactory transfers() {
        return transfers;
    }

    PeerTerms terms() {
        return terms;
    }

    LocalEngine engine() {
        return engine;
    }

    @Override
    public Poller poller() {
        return loop;
    }

    OpenTransport transport() {
        return transport;
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

    /** Lanes in a state. Any thread. */
    int lanes(PathState state) {
        return endpoint.lanes(state);
    }

    /** Rails in a state. Any thread. */
    int rails(PathState state) {
        return endpoint.rails(state);
    }

    RegionExchange regions() {
        return regions;
    }

    AskedChecksums askedChecksums() {
        return askedChecksums;
    }

    NotificationInbox inbox() {
        return inbox;
    }

    byte[] offer() {
        return endpoint.offer();
    }

    /** The bootstrap has failed before {@link #begin}: what the endpoint has prepared for its offer is given back. */
    void discard() {
        endpoint.close();
    }

    /** The bootstrap's messages are done; the path for the data is set up next. */
    void begin(byte[] peerOffer, long connectDeadline) {
        control.handler(this, engine.maxControlBytes(), false);
        loop.arm(openDeadline, connectDeadline);
        engine.unfinished().begun(this);
        if (engine.begins(this)) {
            endpoint.begin(peerOffer);
        } else {
            end(new ConnectionEnd(
                    ConnectionEnd.Kind.LOST, "the engine has as many connections as maxConnections allows", null));
        }
    }

    private final class ControlChannelNotifications implements NotificationSender {
        @Override
        public boolean hasRoom() {
            return control.hasRoom();
        }

        @Override
        public void send(byte[] payload) {
            control.send(MessageType.NOTIFY, payload);
        }
    }

    @Override
    public void drained() {
        flow.notificationsSendable();
    }

    // ---- lanes ----

    @Override
    public void openLanes(int count) {
        openLanes(count, false);
    }

    @Override
    public boolean secured() {
        return control.security() != null;
    }

    @Override
    public void openLanes(int count, boolean secured) {
        InetSocketAddress address = terms.address();
        if (address == null) {
            throw new IllegalStateException("the accepting side opens no lanes");
        }
        for (int i = 0; i < count && over == null; i++) {
            LaneConnector connector = new LaneConnector(this, i);
            connectors.add(connector);
            connector.connect(address, secured ? engine.credentials().connecting(address) : null);
        }
    }

    /**
     * A lane of the peer's has proved that it belongs here. It is answered on this thread, and not where it was accepted: the
     * peer is ready once its lanes are answered, and must find them open here.
     */
    void laneArrived(int index, int descriptor, @Nullable TlsStream stream) {
        boolean answered;
        try {
            answered = Frame.sendAlone(descriptor, stream, MessageType.LANE_ACCEPT);
        } catch (RuntimeException | Error e) {
            Sockets.close(descriptor);
            laneFailed(index, e);
            return;
        }
        if (answered) {
            laneOpened(index, descriptor, stream);
        } else {
            Sockets.close(descriptor);
        }
    }

    private void laneFailed(int index, Throwable why) {
        failed(new ConnectFailedException("lane " + index + " could not be set up on this side: " + why, why));
    }

    /** A lane has proved that it belongs here. */
    void laneOpened(int index, int descriptor, @Nullable TlsStream stream) {
        if (over != null || lanes.get(index)) {
            Sockets.close(descriptor);
            return;
        }
        lanes.set(index);
        try {
            if (stream != null) {
                stream.widen();
            }
        } catch (OutOfMemoryError e) {
            Sockets.close(descriptor);
            laneFailed(index, e);
            return;
        }
        try {
            if (stream == null) {
                endpoint.laneOpened(index, descriptor);
            } else {
                endpoint.laneOpened(index, descriptor, stream);
            }
        } catch (OutOfMemoryError e) {
            // the descriptor is the endpoint's, which has closed it
            laneFailed(index, e);
        }
    }

    // ---- endpoint context ----

    @Override
    public EventLoop loop() {
        return loop;
    }

    @Override
    public EngineOptions options() {
        return engine.options();
    }

    @Override
    public Integrity integrity() {
        return terms.integrity();
    }

    @Override
    public boolean initiator() {
        return terms.initiator();
    }

    @Override
    public @Nullable ExposedRegion exposed(long handle) {
        return exposures.get(handle);
    }

    @Override
    public void send(byte[] message) {
        control.send(MessageType.TRANSPORT, message);
        // the endpoint may speak at the end of a cycle, when the socket's own flush has run
        control.flushNow();
    }

    @Override
    public void wordsChanged() {
        engine.wordsChanged();
    }

    @Override
    public void notificationsSendable() {
        flow.notificationsSendable();
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
    public void completed(WorkRequest request, CompletionStatus status) {
        flow.completed(request, status);
    }

    @Override
    public void postable() {
        flow.postable();
    }

    @Override
    public void failed(SluiceException error) {
        ConnectionEnd reason = new ConnectionEnd(ConnectionEnd.Kind.LOST, String.valueOf(error.getMessage()), error);
        if (!open || control.isClosed() || !loop.isRunning()) {
            end(reason);
        } else if (pathFailure == null) {
            // a peer that closes says goodbye on the control channel, which its lanes' end may overtake
            pathFailure = reason;
            loop.arm(goodbyeGrace, loop.now() + GOODBYE_GRACE_NANOS);
        }
    }

    @Override
    public void served(WorkRequest.Operation operation, long bytes) {
        counters.add(operation.changesRemote() ? FlowCounter.SERVED_WRITE_BYTES : FlowCounter.SERVED_READ_BYTES, bytes);
    }

    @Override
    public void refused() {
        counters.add(FlowCounter.REFUSED, 1);
    }

    @Override
    public void count(WireCounter counter, long delta) {
        counters.add(counter, delta);
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
            case MessageType.NOTIFY -> notified(bytes(body));
            case MessageType.TRANSPORT -> endpoint.received(body);
            case MessageType.NOTIFY_PROGRESS -> notifyProgressed(body);
            case MessageType.DRAIN -> drainAsked(PeerText.read(body));
            case MessageType.DRAINED -> peerDrained();
            case MessageType.GOODBYE ->
                end(new ConnectionEnd(
                        ConnectionEnd.Kind.CLOSED_BY_PEER,
                        "the peer closed the connection: " + PeerText.read(body),
                        null));
            case MessageType.GIVE_UP ->
                end(new ConnectionEnd(
                        ConnectionEnd.Kind.LOST, "the peer gave the connection up: " + PeerText.read(body), null));
            case MessageType.REJECT -> rejected(body);
            default -> throw new ProtocolException("a control message of unknown type " + type);
        }
    }

    @Override
    public boolean goOn() {
        return over != null || regions.goOn();
    }

    /** What a peer may say while the path is set up: that it is ready, or why nothing will come of it. */
    private static boolean isBeforeOpen(int type) {
        return type == MessageType.READY
                || type == MessageType.GOODBYE
                || type == MessageType.GIVE_UP
                || type == MessageType.REJECT;
    }

    /** The peer cannot set its end of the path up. */
    private void rejected(ByteBuffer body) {
        String reason = "the peer cannot use " + connection.transport() + " with this engine: " + PeerText.read(body);
        end(new ConnectionEnd(ConnectionEnd.Kind.LOST, reason, new TransportUnavailableException(reason)));
    }

    @Override
    public void broken(String reason, @Nullable Throwable cause) {
        // the peer hangs up when it notices a broken lane, perhaps before this side has done so: the lane is the reason
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

    private static byte[] bytes(ByteBuffer body) {
        byte[] bytes = new byte[body.remaining()];
        body.get(bytes);
        return bytes;
    }

    @Override
    public void notified(byte[] payload) {
        if (payload.length > engine.options().maxNotificationBytes()) {
            throw new ProtocolException("a notification of " + payload.length + " bytes");
        }
        counters.add(FlowCounter.NOTIFICATIONS_RECEIVED, 1);
        if (!inbox.received(payload)) {
            throw new ProtocolException("the peer sent a notification without a credit");
        }
    }

    private void notifyProgressed(ByteBuffer body) {
        if (body.remaining() != 8) {
            throw new ProtocolException("a control message is cut short");
        }
        int acknowledged = body.getInt();
        int granted = body.getInt();
        if (acknowledged < 0 || !flow.notificationsAcknowledged(acknowledged)) {
            throw new ProtocolException("the peer acknowledged notifications that were not sent");
        }
        if (granted < 0 || !flow.grantNotifications(granted)) {
            throw new ProtocolException("the peer grants credits that it never had");
        }
    }

    private void notifyProgress() {
        if (!notifyProgressDue && over == null) {
            notifyProgressDue = true;
            loop.atEndOfCycle(sendNotifyProgress);
        }
    }

    private void sendNotifyProgress() {
        notifyProgressDue = false;
        if (over == null) {
            control.send(
                    MessageType.NOTIFY_PROGRESS,
                    ByteBuffer.allocate(8)
                            .putInt(inbox.takeAcknowledged())
                            .putInt(inbox.takeGranted())
                            .array());
            // this runs at the end of a cycle, when the socket's own flush may already have run
            control.flushNow();
        }
    }

    // ---- life ----

    private void open() {
        if (over != null) {
            return;
        }
        open = true;
        loop.disarm(openDeadline);
        loop.arm(ticker, loop.now() + tickNanos);
        LOG.debug("{} is open", connection);
        countOpened();
        engine.connectionOpened(this);
        engine.unfinished().finished(this);
        opened.complete(connection);
    }

    private void countOpened() {
        Peers.Opened peer = engine.peers()
                .opened(
                        this,
                        terms.peer(),
                        transport.index(),
                        transport.transport().capabilities().callerThreadBytes() > 0);
        flow.countInto(peer.figures().tally(loop.index()), peer.callers());
        counters.add(FlowCounter.CONNECTIONS_OPENED, 1);
        if (peer.reconnected()) {
            counters.add(FlowCounter.CONNECTIONS_RECONNECTED, 1);
        }
        Observers told = engine.observers();
        if (told != null) {
            told.connectionChanged(connection, ConnectionState.OPEN, "");
        }
    }

    /** Heartbeats come at this side's own rate; one that is late by half an interval is taken for missed. */
    private void countMissedHeartbeats(long silence) {
        long interval = tickNanos * TICKS_A_HEARTBEAT;
        long missed = (silence + interval / 2) / interval - 1;
        if (missed > missedHeartbeats) {
            counters.add(FlowCounter.HEARTBEATS_MISSED, missed - missedHeartbeats);
        }
        missedHeartbeats = Math.max(0, missed);
    }

    private void tick() {
        if (over != null) {
            return;
        }
        long now = loop.now();
        // this cycle may have begun long before it received
        long silence = now - control.lastReceived();
        countMissedHeartbeats(silence);
        if (silence > livenessNanos) {
            end(new ConnectionEnd(
                    ConnectionEnd.Kind.LOST, "nothing was heard of the peer for " + silence / 1_000_000 + " ms", null));
            return;
        }
        if (isOverdue(regions.oldest(), now)
                || isOverdue(askedChecksums.waitingSince(), now)
                || flow.isAcknowledgementOverdue(now, livenessNanos)) {
            end(new ConnectionEnd(ConnectionEnd.Kind.LOST, "the peer does not answer on its control channel", null));
            return;
        }
        String stuck = endpoint.stuckLane(now, livenessNanos);
        if (stuck != null) {
            end(new ConnectionEnd(ConnectionEnd.Kind.LOST, stuck, null));
            return;
        }
        if (flow.isQuiescenceOverdue(now, livenessNanos) || isClosingOverdue(now)) {
            end(new ConnectionEnd(
                    ConnectionEnd.Kind.LOST,
                    "what was posted before a transfer or region ended did not end within the liveness time-out,"
                            + " and only closing the connection stops it",
                    null));
            return;
        }
        if (++tick % TICKS_A_HEARTBEAT == 0) {
            control.send(MessageType.HEARTBEAT, EMPTY);
        }
        loop.arm(ticker, now + tickNanos);
    }

    private boolean isOverdue(@Nullable Long since, long now) {
        return since != null && now - since > livenessNanos;
    }

    void regionClosing(LocalRegion region) {
        if (over != null) {
            exposures.removeAll(region, handle -> {});
            return;
        }
        try {
            closingRegions.put(region, loop.now());
            exposures.removeAll(region, endpoint::exposureEnded);
            endpoint.regionClosing();
        } catch (RuntimeException | Error e) {
            // the peer may not know, and would go on with the region: only the end of the connection keeps it off
            LOG.error("{} ends, since its peer could not be told that {} is closed", connection, region, e);
            end(new ConnectionEnd(
                    ConnectionEnd.Kind.LOST, "this side could not say that one of its regions is closed", e));
        }
    }

    /** Whether this connection has kept a closing region waiting for longer than the liveness time-out. */
    private boolean isClosingOverdue(long now) {
        if (closingRegions.isEmpty()) {
            return false;
        }
        closingRegions.keySet().removeIf(LocalRegion::isGivenBack);
        return closingRegions.entrySet().stream()
                .anyMatch(closing -> now - closing.getValue() > livenessNanos
                        && (flow.isPostedOn(closing.getKey()) || endpoint.holdsClosedLease()));
    }

    /** When the connection is over; exceptionally if the peer was lost. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    /** When the connection is over and nothing of it touches memory. */
    CompletableFuture<Void> quiescent() {
        return quiescent;
    }

    /** What a request meets: null while the connection lives. */
    @Nullable
    SluiceException endError() {
        return over == null ? null : over.error();
    }

    @Override
    public void abort() {
        closeHere();
    }

    // ---- the end in order ----

    /** Closes the connection when what is under way has ended, or the time is over. */
    void shutdown(long patienceNanos) {
        if (over != null) {
            return;
        }
        if (!open) {
            closeHere();
            return;
        }
        Drain begun = beginDrain(new ConnectionEnd(
                ConnectionEnd.Kind.CLOSED_HERE, "the connection is being shut down on this side", null));
        if (begun.close(patienceNanos) && over == null && terms.knowsDrain()) {
            control.send(MessageType.DRAIN, "it is being shut down".getBytes(StandardCharsets.UTF_8));
            control.flushNow();
        }
    }

    private void drainAsked(String reason) {
        beginDrain(new ConnectionEnd(
                        ConnectionEnd.Kind.CLOSED_BY_PEER, "the peer closes the connection: " + reason, null))
                .asked();
    }

    private void peerDrained() {
        Drain begun = drain;
        if (begun == null || !begun.peerDrained()) {
            throw new ProtocolException("the peer answers what it was not asked");
        }
    }

    private Drain beginDrain(ConnectionEnd why) {
        Drain known = drain;
        if (known != null) {
            return known;
        }
        Drain begun = new Drain(this, loop, flow, terms.knowsDrain());
        drain = begun;
        connection.moveTo(ConnectionState.DRAINING);
        flow.refuse(why);
        Observers told = engine.observers();
        if (told != null) {
            told.connectionChanged(connection, ConnectionState.DRAINING, why.reason());
        }
        return begun;
    }

    /** Nothing of this side is under way any more. */
    void tellDrained() {
        control.send(MessageType.DRAINED, EMPTY);
        control.flushNow();
    }

    /** What was waited for has ended, or will not be waited for any longer. */
    void closeDrained() {
        end(new ConnectionEnd(ConnectionEnd.Kind.CLOSED_HERE, "the connection was shut down on this side", null));
    }

    void closeHere() {
        end(new ConnectionEnd(ConnectionEnd.Kind.CLOSED_HERE, "the connection was closed on this side", null));
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
        loop.disarm(ticker);
        loop.disarm(goodbyeGrace);
        if (drain != null) {
            loop.disarm(drain);
        }
        flow.stop(why);
        // each step must be taken, whatever becomes of the others: somebody waits for each
        step(() -> sayGoodbye(why)); // before the lanes close, so that the peer learns of it in this order
        step(endpoint::close);
        step(flow::endAll);
        step(() -> regions.failAll(why.error()));
        step(() -> askedChecksums.failAll(why.error()));
        step(servedChecksums::stop);
        step(() -> inbox.end(lost ? why.error() : null));
        step(() -> connectors.forEach(LaneConnector::abort));
        closingRegions.clear();
        step(() -> engine.connectionEnded(this, why));
        engine.unfinished().finished(this);
        if (open) {
            countEnded(why);
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

    private void countEnded(ConnectionEnd why) {
        boolean lost = why.kind() == ConnectionEnd.Kind.LOST;
        if (lost) {
            counters.add(FlowCounter.CONNECTIONS_LOST, 1);
        }
        engine.peers().ended(this, terms.peer(), transport.index(), lost);
        Observers told = engine.observers();
        if (told != null) {
            told.connectionChanged(connection, connection.state(), why.reason());
        }
    }

    private void sayGoodbye(ConnectionEnd why) {
        if (why.kind() == ConnectionEnd.Kind.CLOSED_HERE && !control.isClosed()) {
            Farewell.say(engine, loop, control, why.reason());
        } else if (why.kind() == ConnectionEnd.Kind.CLOSED_BY_PEER) {
            endpoint.peerClosed();
            control.reset();
        } else {
            if (!open && why.cause() instanceof TransportUnavailableException) {
                control.send(MessageType.REJECT, PeerText.write(why.reason()));
            } else if (why.kind() == ConnectionEnd.Kind.LOST) {
                // so that both sides can tell what happened; if the path is broken for it as well, nothing is lost
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
        if (endpoint.isQuiescent()) {
            quiescent.complete(null);
        } else {
            loop.arm(quiescenceCheck, loop.now() + QUIESCENCE_CHECK_NANOS);
        }
    }
}
