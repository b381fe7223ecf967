package io.sluice.engine.bootstrap;

import io.sluice.engine.Access;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.control.MessageType;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A peer that speaks the bootstrap and the control channel from the outside, step by step, and keeps to none of the rules
 * unless its caller does.
 */
public final class RawPeer implements AutoCloseable {
    private static final byte TCP_OFFER_VERSION = 1;
    private static final int TCP_OFFER_REQUESTS = 4096;
    private static final int NONCE_BYTES = 32;

    private final EngineAddress target;
    private final EngineId id = EngineId.random();
    private final long epoch = new SecureRandom().nextLong();
    private final MessageSocket control;
    private final int patienceMillis;
    private final MessageSocket.Delivery delivery;
    private final List<Socket> lanes = new ArrayList<>();
    private final List<MessageSocket> opened = new ArrayList<>();
    private byte @Nullable [] token;
    private int laneCount = 1;
    private long livenessMillis = Duration.ofMinutes(1).toMillis();
    private byte[] hello = {};
    private byte @Nullable [] offer;
    private byte[] connectionId = {};
    private @Nullable SessionSecret secret;
    private long nextRequest;
    private volatile boolean closed;

    public RawPeer(EngineAddress target) {
        this(target, MessageSocket.Delivery.AT_ONCE);
    }

    public RawPeer(EngineAddress target, MessageSocket.Delivery delivery) {
        this(target, delivery, Patience.BOUND);
    }

    public RawPeer(EngineAddress target, MessageSocket.Delivery delivery, Duration patience) {
        this.target = target;
        this.delivery = delivery;
        this.patienceMillis = Math.toIntExact(patience.toMillis());
        this.control = new MessageSocket(socketTo(target), delivery, patienceMillis);
    }

    /** A peer with an open connection of one lane. */
    public static RawPeer connected(TransferEngine engine) {
        return new RawPeer(engine.address()).connect();
    }

    private static Socket socketTo(EngineAddress address) {
        try {
            Socket socket = new Socket(address.host(), address.port());
            socket.setTcpNoDelay(true);
            return socket;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public RawPeer token(byte[] secretBytes) {
        token = secretBytes;
        return this;
    }

    public RawPeer lanes(int count) {
        laneCount = count;
        return this;
    }

    public RawPeer offer(byte[] bytes) {
        offer = bytes;
        return this;
    }

    public RawPeer livenessMillis(long millis) {
        livenessMillis = millis;
        return this;
    }

    public EngineId id() {
        return id;
    }

    public long epoch() {
        return epoch;
    }

    public MessageSocket control() {
        return control;
    }

    public Socket lane(int index) {
        return lanes.get(index);
    }

    byte[] connectionId() {
        return connectionId;
    }

    SessionSecret secret() {
        SessionSecret derived = secret;
        if (derived == null) {
            throw new IllegalStateException("not welcomed yet");
        }
        return derived;
    }

    // ---- bootstrap ----

    /** The whole of it. */
    public RawPeer connect() {
        return connect(helloFields());
    }

    /** The whole of it, with this hello. */
    RawPeer connect(FieldWriter helloBody) {
        hello(helloBody.toBytes());
        welcomed();
        authenticate();
        accepted();
        for (int i = 0; i < laneCount; i++) {
            lanes.add(openLane(i));
        }
        ready();
        return this;
    }

    /** Connects as an engine that knows checksums, and does not ask for those of frames. */
    public RawPeer connectKnowingChecksums() {
        return connect(helloFields().put(Tag.INTEGRITY, 0));
    }

    FieldWriter helloFields() {
        return helloFields("tcp");
    }

    /** A HELLO with other transports to choose from. */
    FieldWriter helloFields(String transports) {
        byte[] nonce = new byte[NONCE_BYTES];
        new SecureRandom().nextBytes(nonce);
        return new FieldWriter()
                .put(Tag.ENGINE_ID, FieldReader.toBytes(id))
                .put(Tag.EPOCH, epoch)
                .put(Tag.NONCE, nonce)
                .put(Tag.TRANSPORTS, transports)
                .put(Tag.NOTIFICATION_CREDITS, 16)
                .put(Tag.MAX_NOTIFICATION_BYTES, 1024)
                .put(Tag.LIVENESS_MILLIS, livenessMillis)
                .put(Tag.AUTHENTICATION, token == null ? 0 : 1);
    }

    public void hello() {
        hello(helloFields().toBytes());
    }

    void hello(byte[] body) {
        hello = body;
        control.send(MessageType.HELLO, hello);
    }

    public void welcomed() {
        welcomed(control.receive(MessageType.WELCOME));
    }

    void welcomed(MessageSocket.Message welcome) {
        FieldReader fields = new FieldReader(welcome.buffer());
        connectionId = fields.bytes(Tag.CONNECTION_ID);
        SessionSecret derived = new SessionSecret(token, hello, Welcome.unproven(fields));
        if (!SessionSecret.matches(derived.acceptorProof(), fields.bytes(Tag.PROOF))) {
            throw new AssertionError("the engine does not prove that it knows the token");
        }
        secret = derived;
    }

    byte[] authentication() {
        byte[] own = ByteBuffer.allocate(6)
                .put(TCP_OFFER_VERSION)
                .put((byte) laneCount)
                .putInt(TCP_OFFER_REQUESTS)
                .array();
        return new FieldWriter()
                .put(Tag.PROOF, secret().initiatorProof())
                .put(Tag.OFFER, offer == null ? own : offer)
                .toBytes();
    }

    public void authenticate() {
        control.send(MessageType.AUTHENTICATE, authentication());
    }

    public void accepted() {
        control.receive(MessageType.ACCEPT);
    }

    byte[] laneClaim(int index) {
        return new FieldWriter()
                .put(Tag.CONNECTION_ID, connectionId)
                .put(Tag.LANE_INDEX, index)
                .put(Tag.PROOF, secret().laneProof(connectionId, index))
                .toBytes();
    }

    public Socket openLane(int index) {
        MessageSocket lane = new MessageSocket(socketTo(target), delivery, patienceMillis);
        opened.add(lane);
        lane.send(MessageType.LANE, laneClaim(index));
        lane.receive(MessageType.LANE_ACCEPT);
        return lane.socket();
    }

    public void ready() {
        control.send(MessageType.READY, new byte[0]);
    }

    // ---- control channel ----

    /** The engine's whole answer to an ATTACH of these descriptors. */
    public ByteBuffer attach(byte[]... descriptors) {
        ByteBuffer body = ByteBuffer.allocate(8 + descriptors.length * RegionDescriptor.BYTES)
                .putLong(nextRequest++);
        for (byte[] descriptor : descriptors) {
            body.put(descriptor);
        }
        control.send(MessageType.ATTACH, body.array());
        ByteBuffer answer = control.receive(MessageType.ATTACH_RESULT).buffer();
        answer.getLong();
        return answer;
    }

    /** The handle. */
    public long attach(RegionDescriptor descriptor) {
        ByteBuffer answer = attach(descriptor.toBytes());
        int status = answer.get();
        if (status != 0) {
            throw new AssertionError("attach was refused with status " + status);
        }
        return answer.getLong();
    }

    public void detach(long handle) {
        control.send(
                MessageType.DETACH,
                ByteBuffer.allocate(16).putLong(nextRequest++).putLong(handle).array());
        control.receive(MessageType.DETACH_RESULT);
    }

    /** Waits for the engine's ATTACH of one descriptor and grants it under this handle. */
    public void grantAttach(long handle) {
        long request = control.receive(MessageType.ATTACH).buffer().getLong();
        control.send(
                MessageType.ATTACH_RESULT,
                ByteBuffer.allocate(19)
                        .putLong(request)
                        .put((byte) 0)
                        .putLong(handle)
                        .putShort((short) 0)
                        .array());
    }

    /** The connection with a region of this peer's attached, which takes it for as long as it says. */
    public RemoteRegion attachedBy(Connection connection, long bytes) {
        CompletableFuture<RemoteRegion> attached = connection.attach(new RegionDescriptor(
                id, epoch, 1, 2, MemoryKind.HOST, Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE), 0, bytes));
        grantAttach(1);
        return Patience.await(attached);
    }

    public void notifyEngine(byte[] payload) {
        control.send(MessageType.NOTIFY, payload);
    }

    /** Keeps the control channel alive from now on, in parallel with everything else. */
    public RawPeer beatEvery(Duration interval) {
        Thread.ofPlatform().daemon().name("heartbeats").start(() -> {
            while (!closed) {
                Patience.pause(interval);
                try {
                    control.send(MessageType.HEARTBEAT, new byte[0]);
                } catch (UncheckedIOException ended) {
                    return;
                }
            }
        });
        return this;
    }

    // ---- the other side ----

    /** The connection as the engine sees it. */
    public Connection in(TransferEngine engine) {
        Patience.until("the engine has the connection", () -> find(engine) != null);
        return find(engine);
    }

    private @Nullable Connection find(TransferEngine engine) {
        return engine.connections().stream()
                .filter(connection -> connection.peer().equals(id))
                .findFirst()
                .orElse(null);
    }

    public boolean isGoneFrom(TransferEngine engine) {
        return find(engine) == null;
    }

    @Override
    public void close() {
        closed = true;
        opened.forEach(MessageSocket::close);
        control.close();
    }
}
