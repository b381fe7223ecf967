package io.sluice.engine.session;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Integrity;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.bootstrap.Credentials;
import io.sluice.engine.bootstrap.LaneConnector;
import io.sluice.engine.bootstrap.PeerTerms;
import io.sluice.engine.control.Frame;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.flow.ConnectionFlow;
import io.sluice.engine.flow.FlowCounter;
import io.sluice.engine.flow.FlowCounters;
import io.sluice.engine.memory.ExportTable;
import io.sluice.engine.memory.RegionRegistry;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.security.TlsStream;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RegionAttachments;
import io.sluice.engine.transport.SocketLanes;
import io.sluice.engine.transport.TransportMessages;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.Sockets;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One path of a connection: the endpoint, the engine's services for it, and its lanes. On the connection's loop, except
 * the methods for users.
 */
final class EndpointAdapter implements EndpointContext, LaneConnector.Owner, ConnectionPath {
    private static final RegionAttachments NO_PART_IN_ATTACHING = new RegionAttachments() {};

    /** The number of a lane on the wire is its path's place and its own. */
    private static final int LANE_BITS = 5;

    private final int index;
    private final OpenTransport transport;
    private final String reason;
    private final EngineOptions options;
    private final Credentials credentials;
    private final RegionRegistry regions;
    private final Poller loop;
    private final FramedSocket control;
    private final PeerTerms terms;
    private final ExportTable exports;
    private final Owner owner;
    private final FlowCounters counters;
    private final Endpoint endpoint;
    private final @Nullable SocketLanes socketLanes;
    private final @Nullable TransportMessages messages;
    private final RegionAttachments attachments;
    private final BitSet lanes = new BitSet();
    private final List<LaneConnector> connectors = new ArrayList<>();

    /** The owner of the path. */
    interface Owner {
        /** Whether the connection has ended. */
        boolean isOver();

        /** The flow of transfers over all paths. */
        ConnectionFlow flow();

        /** The endpoint can be posted to. */
        void established();

        /** A path is broken. */
        void failed(EndpointAdapter path, SluiceException error);

        /** A notification has come over a path. */
        void notified(byte[] payload);
    }

    EndpointAdapter(
            EngineParts engine,
            Poller loop,
            FramedSocket control,
            PeerTerms terms,
            OpenTransport transport,
            int index,
            String reason,
            ExportTable exports,
            Owner owner) {
        this.index = index;
        this.transport = transport;
        this.reason = reason;
        this.options = engine.options();
        this.credentials = engine.credentials();
        this.regions = engine.regions();
        this.loop = loop;
        this.control = control;
        this.terms = terms;
        this.exports = exports;
        this.owner = owner;
        this.counters = engine.counters().flow(loop, transport);
        this.endpoint = engine.loops().get(loop, transport).endpoint(this);
        this.socketLanes = endpoint instanceof SocketLanes ofEndpoint ? ofEndpoint : null;
        this.messages = endpoint instanceof TransportMessages ofEndpoint ? ofEndpoint : null;
        this.attachments = endpoint instanceof RegionAttachments ofEndpoint ? ofEndpoint : NO_PART_IN_ATTACHING;
    }

    Endpoint endpoint() {
        return endpoint;
    }

    /** The endpoint's part in attaching regions. */
    RegionAttachments attachments() {
        return attachments;
    }

    /** A message of the peer's endpoint. */
    void received(ByteBuffer message) {
        if (messages == null) {
            throw new ProtocolException("a message for a transport that has none");
        }
        messages.received(message);
    }

    OpenTransport openTransport() {
        return transport;
    }

    /** Its place in the connection. */
    int index() {
        return index;
    }

    // ---- what users see ----

    @Override
    public String transport() {
        return transport.name();
    }

    @Override
    public Set<MemoryKind> memory() {
        return transport.transport().memory().register();
    }

    @Override
    public int lanes(PathState state) {
        return endpoint.lanes(state);
    }

    @Override
    public String reason() {
        return reason;
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
        for (int i = 0; i < count && !owner.isOver(); i++) {
            LaneConnector connector = new LaneConnector(loop, terms, this, number(i));
            connectors.add(connector);
            connector.connect(address, secured ? credentials.connecting(address) : null);
        }
    }

    /** The path that a lane is of, by its number on the wire. */
    static int pathOf(int number) {
        return number >>> LANE_BITS;
    }

    private int number(int lane) {
        if (lane >= 1 << LANE_BITS) {
            throw new IllegalArgumentException("a path has at most " + (1 << LANE_BITS) + " lanes");
        }
        return (index << LANE_BITS) + lane;
    }

    /**
     * A lane of the peer's has proved that it belongs here. It is answered on this thread, and not where it was accepted: the
     * peer is ready once its lanes are answered, and must find them open here.
     */
    void laneArrived(int number, int descriptor, @Nullable TlsStream stream) {
        boolean answered;
        try {
            answered = Frame.sendAlone(descriptor, stream, MessageType.LANE_ACCEPT);
        } catch (RuntimeException | Error e) {
            Sockets.close(descriptor);
            laneFailed(number, e);
            return;
        }
        if (answered) {
            laneOpened(number, descriptor, stream);
        } else {
            Sockets.close(descriptor);
        }
    }

    private void laneFailed(int number, Throwable why) {
        failed(new ConnectFailedException("lane " + laneOf(number) + " could not be set up on this side: " + why, why));
    }

    private static int laneOf(int number) {
        return number & ((1 << LANE_BITS) - 1);
    }

    @Override
    public void laneOpened(int number, int descriptor, @Nullable TlsStream stream) {
        int lane = laneOf(number);
        if (owner.isOver() || socketLanes == null || lanes.get(lane)) {
            Sockets.close(descriptor);
            return;
        }
        lanes.set(lane);
        try {
            if (stream != null) {
                stream.widen();
            }
        } catch (OutOfMemoryError e) {
            Sockets.close(descriptor);
            laneFailed(number, e);
            return;
        }
        try {
            if (stream == null) {
                socketLanes.laneOpened(lane, descriptor);
            } else {
                socketLanes.laneOpened(lane, descriptor, stream);
            }
        } catch (OutOfMemoryError e) {
            // the descriptor is the endpoint's, which has closed it
            laneFailed(number, e);
        }
    }

    /** Lanes that are not open yet never will be. */
    void abortLanes() {
        connectors.forEach(LaneConnector::abort);
    }

    // ---- endpoint context ----

    @Override
    public EventLoop loop() {
        return loop;
    }

    @Override
    public EngineOptions options() {
        return options;
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
    public @Nullable ExportedRegion exportedRegion(long handle) {
        return exports.get(handle, index);
    }

    @Override
    public void send(byte[] message) {
        control.send(MessageType.TRANSPORT, terms.knowsPaths() ? ofPath(message) : message);
        // the endpoint may speak at the end of a cycle, when the socket's own flush has run
        control.flushNow();
    }

    private byte[] ofPath(byte[] message) {
        return ByteBuffer.allocate(1 + message.length)
                .put((byte) index)
                .put(message)
                .array();
    }

    @Override
    public void wordsChanged() {
        regions.wordsChanged();
    }

    @Override
    public void notificationsSendable() {
        owner.flow().notificationsSendable();
    }

    @Override
    public void notified(byte[] payload) {
        owner.notified(payload);
    }

    @Override
    public void established() {
        owner.established();
    }

    @Override
    public void failed(SluiceException error) {
        owner.failed(this, error);
    }

    @Override
    public void completed(WorkRequest request, CompletionStatus status) {
        owner.flow().completed(request, status);
    }

    @Override
    public void postable() {
        owner.flow().postable(index);
    }

    @Override
    public void served(WorkRequest.Opcode operation, long bytes) {
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

    /** For the transports' log lines. */
    @Override
    public String toString() {
        return owner.flow().connection().toString();
    }
}
