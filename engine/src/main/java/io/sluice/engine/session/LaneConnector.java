package io.sluice.engine.session;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.progress.Poller;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Opens a lane from the connecting side: a socket that proves to which connection it belongs. */
final class LaneConnector implements FramedSocket.Handler, Unfinished {
    private static final int MAX_ANSWER = 64;

    private final PeerSession session;
    private final int index;
    private @Nullable FramedSocket socket;

    private LaneConnector(PeerSession session, int index) {
        this.session = session;
        this.index = index;
    }

    static void connect(PeerSession session, InetSocketAddress address, int index) {
        LaneConnector connector = new LaneConnector(session, index);
        int descriptor = SocketConnect.begin(address);
        if (descriptor < 0) {
            connector.broken(SocketConnect.describe(descriptor, address), null);
            return;
        }
        session.engine().unfinished().begun(connector);
        connector.socket = new FramedSocket(session.poller(), descriptor, true, true, MAX_ANSWER, connector);
    }

    @Override
    public void connected() {
        PeerTerms terms = session.terms();
        socket().send(
                        MessageType.LANE,
                        new FieldWriter()
                                .put(Tag.CONNECTION_ID, terms.connectionId())
                                .put(Tag.LANE_INDEX, index)
                                .put(Tag.PROOF, terms.secret().laneProof(terms.connectionId(), index))
                                .toBytes());
    }

    @Override
    public void message(int type, ByteBuffer body) {
        if (type != MessageType.LANE_ACCEPT) {
            throw new ProtocolException("a lane was answered with a message of type " + type);
        }
        session.engine().unfinished().finished(this);
        session.laneOpened(index, socket().release());
    }

    @Override
    public void broken(String reason, @Nullable Throwable cause) {
        session.engine().unfinished().finished(this);
        session.failed(new ConnectFailedException("lane " + index + " could not be opened: " + reason, cause));
    }

    @Override
    public Poller poller() {
        return session.poller();
    }

    @Override
    public void abort() {
        FramedSocket current = socket;
        if (current != null && !current.isClosed()) {
            current.close();
            broken("the engine is closed", null);
        }
    }

    private FramedSocket socket() {
        FramedSocket current = socket;
        if (current == null) {
            throw new IllegalStateException("not connected");
        }
        return current;
    }
}
