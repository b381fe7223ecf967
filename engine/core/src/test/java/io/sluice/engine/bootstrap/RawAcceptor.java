package io.sluice.engine.bootstrap;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.control.MessageType;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The accepting side of a bootstrap from the outside, step by step, as far as its caller likes. */
final class RawAcceptor implements AutoCloseable {
    private static final byte TCP_OFFER_VERSION = 1;

    private final EngineId id = EngineId.random();
    private final ServerSocket server;
    private final MessageSocket.Delivery delivery;
    private final int patienceMillis;
    private final List<MessageSocket> sockets = new ArrayList<>();
    private int lanes = 1;
    private List<String> offered = List.of();
    private byte[] connectionId = new byte[Welcome.CONNECTION_ID_BYTES];

    RawAcceptor() {
        this(MessageSocket.Delivery.AT_ONCE, Patience.BOUND);
    }

    RawAcceptor(MessageSocket.Delivery delivery, Duration patience) {
        this.delivery = delivery;
        this.patienceMillis = Math.toIntExact(patience.toMillis());
        try {
            server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
            server.setSoTimeout(patienceMillis);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    RawAcceptor lanes(int count) {
        lanes = count;
        return this;
    }

    EngineAddress address() {
        return EngineAddress.of("127.0.0.1", server.getLocalPort());
    }

    MessageSocket accept() {
        try {
            MessageSocket socket = new MessageSocket(server.accept(), delivery, patienceMillis);
            sockets.add(socket);
            return socket;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The transports that the last initiator has offered. */
    List<String> offered() {
        return offered;
    }

    /** The control side, up to where the initiator has proved that it may connect, and has offered its end of a transport. */
    MessageSocket choose(String transport) {
        MessageSocket control = welcome(transport, Features.ALL);
        control.receive(MessageType.AUTHENTICATE);
        return control;
    }

    /**
     * Answers the hello.
     *
     * @param features what it understands; 0 for an acceptor of an earlier version, which does not know of them
     */
    MessageSocket welcome(String transport, long features) {
        MessageSocket control = accept();
        byte[] hello = control.receive(MessageType.HELLO).body();
        offered = List.of(
                new FieldReader(ByteBuffer.wrap(hello)).text(Tag.TRANSPORTS).split(","));
        new SecureRandom().nextBytes(connectionId);
        FieldWriter welcome = new FieldWriter()
                .put(Tag.ENGINE_ID, FieldReader.toBytes(id))
                .put(Tag.EPOCH, 1)
                .put(Tag.NONCE, new byte[32])
                .put(Tag.CONNECTION_ID, connectionId)
                .put(Tag.TRANSPORT, transport)
                .put(Tag.NOTIFICATION_CREDITS, 16)
                .put(Tag.MAX_NOTIFICATION_BYTES, 1024)
                .put(Tag.LIVENESS_MILLIS, 60_000)
                .put(Tag.AUTHENTICATION, 0);
        if (features != 0) {
            welcome.put(Tag.FEATURES, features);
        }
        byte[] unproven = Welcome.unproven(new FieldReader(ByteBuffer.wrap(welcome.toBytes())));
        SessionSecret secret = new SessionSecret(null, hello, unproven);
        control.send(
                MessageType.WELCOME,
                welcome.put(Tag.PROOF, secret.acceptorProof()).toBytes());
        return control;
    }

    /** The whole control side, up to where lanes are opened. */
    MessageSocket bootstrap() {
        MessageSocket control = welcome("tcp", 0);
        control.receive(MessageType.AUTHENTICATE);
        byte[] offer = ByteBuffer.allocate(6)
                .put(TCP_OFFER_VERSION)
                .put((byte) lanes)
                .putInt(4096)
                .array();
        control.send(MessageType.ACCEPT, new FieldWriter().put(Tag.OFFER, offer).toBytes());
        return control;
    }

    MessageSocket acceptLane() {
        MessageSocket lane = accept();
        lane.receive(MessageType.LANE);
        lane.send(MessageType.LANE_ACCEPT, new byte[0]);
        return lane;
    }

    @Override
    public void close() {
        sockets.forEach(MessageSocket::close);
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
