package io.sluice.engine.bootstrap;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.LimitExceededException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.control.SocketConnect;
import io.sluice.engine.security.RefusedBeforeTlsException;
import io.sluice.engine.security.TlsStream;
import io.sluice.engine.transport.EventLoop;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * Opens a lane from the connecting side: a socket that proves to which connection it belongs. Its owner bounds its time
 * and aborts it at the end.
 */
public final class LaneConnector implements FramedSocket.Handler {
    private static final int MAX_ANSWER = 1024;

    private final EventLoop loop;
    private final PeerTerms terms;
    private final Owner owner;
    private final int index;
    private @Nullable FramedSocket socket;

    /** The owner of the lane. */
    public interface Owner {
        /** The lane has proved that it belongs to the connection; the descriptor is the owner's from here on. */
        void laneOpened(int index, int descriptor, @Nullable TlsStream stream);

        /** The lane could not be opened. */
        void failed(SluiceException error);
    }

    public LaneConnector(EventLoop loop, PeerTerms terms, Owner owner, int index) {
        this.loop = loop;
        this.terms = terms;
        this.owner = owner;
        this.index = index;
    }

    public void connect(InetSocketAddress address, @Nullable Supplier<SSLEngine> tls) {
        int descriptor = SocketConnect.begin(address);
        if (descriptor < 0) {
            broken(SocketConnect.describe(descriptor, address), null);
            return;
        }
        try {
            socket = new FramedSocket(loop, descriptor, true, true, MAX_ANSWER, this, tls);
        } catch (RuntimeException | Error e) {
            broken(String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public void connected() {
        socket().send(
                        MessageType.LANE,
                        new FieldWriter()
                                .put(Tag.CONNECTION_ID, terms.connectionId())
                                .put(Tag.LANE_INDEX, index)
                                .put(
                                        Tag.PROOF,
                                        terms.secret().laneProof(terms.connectionId(), index, socket().security()))
                                .toBytes());
    }

    @Override
    public void message(int type, ByteBuffer body) {
        switch (type) {
            case MessageType.LANE_ACCEPT -> {
                TlsStream stream = socket().stream();
                owner.laneOpened(index, socket().release(), stream);
            }
            case MessageType.REJECT -> {
                socket().close();
                owner.failed(Rejection.ofLane(body, index));
            }
            default -> throw new ProtocolException("a lane was answered with a message of type " + type);
        }
    }

    @Override
    public void broken(String reason, @Nullable Throwable cause) {
        if (cause instanceof RefusedBeforeTlsException) {
            owner.failed(new LimitExceededException(
                    "lane " + index + " could not be opened: the peer rejects it before TLS: "
                            + RefusedBeforeTlsException.MEANING,
                    cause));
            return;
        }
        owner.failed(new ConnectFailedException("lane " + index + " could not be opened: " + reason, cause));
    }

    /** Closes the socket, if it is not a lane yet. */
    public void abort() {
        FramedSocket current = socket;
        if (current != null) {
            current.close();
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
