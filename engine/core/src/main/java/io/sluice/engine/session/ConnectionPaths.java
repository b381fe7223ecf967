package io.sluice.engine.session;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.LimitExceededException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.bootstrap.PathUnavailableException;
import io.sluice.engine.bootstrap.PeerTerms;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.control.PeerText;
import io.sluice.engine.flow.ConnectionEnd;
import io.sluice.engine.flow.ConnectionFlow;
import io.sluice.engine.flow.FlowPath;
import io.sluice.engine.memory.AttachPath;
import io.sluice.engine.memory.AttachPaths;
import io.sluice.engine.memory.ExportTable;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.security.TlsStream;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.engine.transport.Notifications;
import io.sluice.jni.Sockets;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The paths of a connection, the most preferred first, and the flow of transfers over them. Events of the connection
 * apply to each path. On the connection's loop.
 */
final class ConnectionPaths implements EndpointAdapter.Owner {
    // complete from the constructor on
    private final List<EndpointAdapter> paths = new ArrayList<>();
    private final List<ConnectionPath> faces;
    private final FramedSocket control;
    private final PeerTerms terms;
    private final Owner owner;
    private final ConnectionFlow flow;
    private int established;
    private boolean broken;

    /** The connection that owns the paths. */
    interface Owner {
        /** Whether the connection has ended. */
        boolean isOver();

        /** All paths can be posted to. */
        void established();

        /** A path is broken. */
        void failed(EndpointAdapter path, SluiceException error);

        /** A notification has come over a path. */
        void notified(byte[] payload);
    }

    ConnectionPaths(
            EngineParts engine,
            Poller loop,
            FramedSocket control,
            PeerTerms terms,
            List<OpenTransport> transports,
            ExportTable exports,
            Connection connection,
            Owner owner) {
        this.control = control;
        this.terms = terms;
        this.owner = owner;
        try {
            for (OpenTransport transport : transports) {
                int index = paths.size();
                String reason = index == 0
                        ? terms.transportReason()
                        : "it reaches memory that "
                                + String.join(
                                        ", ",
                                        paths.stream()
                                                .map(EndpointAdapter::transport)
                                                .toList())
                                + " does not reach";
                paths.add(new EndpointAdapter(engine, loop, control, terms, transport, index, reason, exports, this));
            }
            flow = new ConnectionFlow(
                    connection,
                    loop,
                    engine.options(),
                    engine.window(),
                    transports.stream()
                            .map(transport -> new FlowPath(
                                    transport.index(),
                                    transport.capabilities(),
                                    paths.get(transports.indexOf(transport)).endpoint(),
                                    engine.counters().connection(loop, transport)))
                            .toList(),
                    paths.getFirst().endpoint() instanceof Notifications ofEndpoint
                            ? ofEndpoint.notificationSender()
                            : new ControlChannelNotifications(),
                    terms.notificationCredits());
            faces = List.copyOf(paths);
        } catch (RuntimeException | Error e) {
            // the endpoints are known to no other part yet
            close();
            throw e;
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

    /** The paths as users see them. Any thread. */
    List<ConnectionPath> faces() {
        return faces;
    }

    /** The part that attaches regions over the paths. */
    AttachPaths attaching(EngineOptions options) {
        return new AttachPaths(
                paths.stream()
                        .map(path -> new AttachPath(path.index(), path.openTransport(), path.attachments(), path))
                        .toList(),
                options.pathPolicy(),
                terms.knowsPaths());
    }

    /** The lanes of the path over a transport; 0 if there is none. Any thread. */
    int lanes(OpenTransport over, PathState state) {
        return sum(over, endpoint -> endpoint.lanes(state));
    }

    /** The rails of the path over a transport; 0 if there is none. Any thread. */
    int rails(OpenTransport over, PathState state) {
        return sum(over, endpoint -> endpoint.rails(state));
    }

    private int sum(OpenTransport over, ToIntFunction<Endpoint> figure) {
        int sum = 0;
        for (EndpointAdapter path : paths) {
            sum += path.openTransport().equals(over) ? figure.applyAsInt(path.endpoint()) : 0;
        }
        return sum;
    }

    // ---- setting up ----

    List<byte[]> offers() {
        return paths.stream().map(path -> path.endpoint().offer()).toList();
    }

    void begin(List<byte[]> peerOffers) {
        for (EndpointAdapter path : paths) {
            if (!owner.isOver()) {
                path.endpoint().begin(peerOffers.get(path.index()));
            }
        }
    }

    void laneArrived(int number, int descriptor, @Nullable TlsStream stream) {
        int path = EndpointAdapter.pathOf(number);
        if (path < paths.size()) {
            paths.get(path).laneArrived(number, descriptor, stream);
        } else {
            Sockets.close(descriptor);
        }
    }

    /** Lanes that are not open yet never will be. */
    void abortLanes() {
        paths.forEach(EndpointAdapter::abortLanes);
    }

    /** Returns the consequence if a path cannot be set up: the connection needs only the first. */
    SluiceException notSetUp(EndpointAdapter path, SluiceException error) {
        return path.index() == 0 || error instanceof LimitExceededException
                ? error
                : new PathUnavailableException(path.transport(), error);
    }

    /** The rejection that asks the peer to try again without a path; null if the connection ends for another reason. */
    byte @Nullable [] rejection(ConnectionEnd why) {
        int path = 0;
        if (why.cause() instanceof PathUnavailableException unavailable) {
            path = paths.stream().map(EndpointAdapter::transport).toList().indexOf(unavailable.transport());
        } else if (!(why.cause() instanceof TransportUnavailableException)) {
            return null;
        }
        byte[] text = PeerText.write(why.reason());
        return terms.knowsPaths()
                ? ByteBuffer.allocate(1 + text.length)
                        .put((byte) path)
                        .put(text)
                        .array()
                : text;
    }

    /** The error that a peer's rejection stands for. */
    SluiceException rejected(ByteBuffer body) {
        EndpointAdapter path = told(body);
        String reason = "the peer cannot use " + path.transport() + " with this engine: " + PeerText.read(body);
        return notSetUp(path, new TransportUnavailableException(reason));
    }

    /** Which path a message of the peer's is about. */
    private EndpointAdapter told(ByteBuffer body) {
        int path = 0;
        if (terms.knowsPaths()) {
            path = body.hasRemaining() ? Byte.toUnsignedInt(body.get()) : paths.size();
        }
        if (path >= paths.size()) {
            throw new ProtocolException("a message about a path that the connection does not have");
        }
        return paths.get(path);
    }

    // ---- what the paths say ----

    @Override
    public boolean isOver() {
        return owner.isOver();
    }

    @Override
    public ConnectionFlow flow() {
        return flow;
    }

    @Override
    public void established() {
        // one may break while the others are set up: then the connection ends, and must not open before
        if (++established == paths.size() && !broken) {
            owner.established();
        }
    }

    @Override
    public void failed(EndpointAdapter path, SluiceException error) {
        broken = true;
        owner.failed(path, error);
    }

    @Override
    public void notified(byte[] payload) {
        owner.notified(payload);
    }

    // ---- calls to them ----

    /** A message of one of the peer's endpoints. */
    void received(ByteBuffer body) {
        told(body).received(body);
    }

    void exportEnded(long handle) {
        each(path -> path.attachments().exportEnded(handle));
    }

    void regionClosing() {
        each(path -> path.endpoint().regionClosing());
    }

    boolean holdsClosedLease() {
        return paths.stream().anyMatch(path -> path.endpoint().holdsClosedLease());
    }

    @Nullable
    String stuckLane(long now, long timeoutNanos) {
        for (EndpointAdapter path : paths) {
            String stuck = path.endpoint().stuckLane(now, timeoutNanos);
            if (stuck != null) {
                return stuck;
            }
        }
        return null;
    }

    void peerClosed() {
        each(path -> path.endpoint().peerClosed());
    }

    void close() {
        each(path -> path.endpoint().close());
    }

    boolean isQuiescent() {
        boolean quiescent = true;
        for (EndpointAdapter path : paths) {
            quiescent &= path.endpoint().isQuiescent();
        }
        return quiescent;
    }

    /** Calls a step for each path, even if that of another path throws. */
    private void each(Consumer<EndpointAdapter> step) {
        Throwable thrown = null;
        for (EndpointAdapter path : paths) {
            try {
                step.accept(path);
            } catch (RuntimeException | Error e) {
                thrown = e;
            }
        }
        if (thrown instanceof Error error) {
            throw error;
        } else if (thrown instanceof RuntimeException exception) {
            throw exception;
        }
    }
}
