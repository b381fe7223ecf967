package io.sluice.engine.bootstrap;

import io.sluice.engine.control.MessageType;
import io.sluice.engine.control.PeerText;
import io.sluice.testkit.Patience;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** An initiator that speaks the protocol message by message, so that it can do what an engine never does. */
public final class HandWrittenPeer implements AutoCloseable {
    private static final int READ_TIMEOUT_MILLIS = Math.toIntExact(Patience.BOUND.toMillis());
    private static final int NONCE_BYTES = 32;

    private final int port;
    private final Socket control;
    private final DataOutputStream out;
    private final DataInputStream in;
    private final SessionSecret secret;
    private final byte[] connectionId;
    private final List<Socket> lanes = new ArrayList<>();

    /** Runs the bootstrap up to ACCEPT; there is no lane yet. */
    public HandWrittenPeer(int port, long livenessMillis) throws IOException {
        this(port, livenessMillis, 1);
    }

    /** Runs the bootstrap up to ACCEPT, with any number of offered lanes. */
    HandWrittenPeer(int port, long livenessMillis, int offeredLanes) throws IOException {
        this.port = port;
        control = open(port);
        out = new DataOutputStream(new BufferedOutputStream(control.getOutputStream()));
        in = new DataInputStream(control.getInputStream());
        byte[] hello = new FieldWriter()
                .put(Tag.ENGINE_ID, new byte[16])
                .put(Tag.EPOCH, 1)
                .put(Tag.NONCE, new byte[NONCE_BYTES])
                .put(Tag.TRANSPORTS, "tcp")
                .put(Tag.NOTIFICATION_CREDITS, 16)
                .put(Tag.MAX_NOTIFICATION_BYTES, 1024)
                .put(Tag.LIVENESS_MILLIS, livenessMillis)
                .put(Tag.AUTHENTICATION, 0)
                .toBytes();
        try {
            send(MessageType.HELLO, hello);
            FieldReader welcome = new FieldReader(ByteBuffer.wrap(receive(MessageType.WELCOME)));
            secret = new SessionSecret(null, hello, Welcome.unproven(welcome));
            connectionId = welcome.bytes(Tag.CONNECTION_ID);
            byte[] offer = ByteBuffer.allocate(6)
                    .put((byte) 1)
                    .put((byte) offeredLanes)
                    .putInt(4096)
                    .array();
            send(
                    MessageType.AUTHENTICATE,
                    new FieldWriter()
                            .put(Tag.PROOF, secret.initiatorProof())
                            .put(Tag.OFFER, offer)
                            .toBytes());
            receive(MessageType.ACCEPT);
        } catch (IOException e) {
            control.close();
            throw e;
        }
    }

    private static Socket open(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(READ_TIMEOUT_MILLIS);
        return socket;
    }

    public void openLane() throws IOException {
        Socket lane = open(port);
        lanes.add(lane);
        write(
                new DataOutputStream(lane.getOutputStream()),
                MessageType.LANE,
                new FieldWriter()
                        .put(Tag.CONNECTION_ID, connectionId)
                        .put(Tag.LANE_INDEX, 0)
                        .put(Tag.PROOF, secret.laneProof(connectionId, 0))
                        .toBytes());
        read(new DataInputStream(lane.getInputStream()), MessageType.LANE_ACCEPT);
    }

    public synchronized void send(int type, byte[] body) throws IOException {
        write(out, type, body);
    }

    private static void write(DataOutputStream out, int type, byte[] body) throws IOException {
        out.writeShort(0x534C);
        out.writeByte(1);
        out.writeByte(type);
        out.writeInt(body.length);
        out.write(body);
        out.flush();
    }

    public void acknowledge(int notifications, int credits) throws IOException {
        send(
                MessageType.NOTIFY_PROGRESS,
                ByteBuffer.allocate(8).putInt(notifications).putInt(credits).array());
    }

    /** The body of the next message of a type; others, like heartbeats, are passed over. */
    public byte[] receive(int type) throws IOException {
        return read(in, type);
    }

    private static byte[] read(DataInputStream in, int wanted) throws IOException {
        while (true) {
            in.readShort();
            in.readByte();
            int type = in.readUnsignedByte();
            byte[] body = new byte[in.readInt()];
            in.readFully(body);
            if (type == wanted) {
                return body;
            }
            if (type == MessageType.REJECT) {
                throw new IOException(
                        "rejected: " + PeerText.read(new FieldReader(ByteBuffer.wrap(body)).bytes(Tag.MESSAGE)));
            }
        }
    }

    /** Goes on sending signs of life until the socket closes. */
    public void beat() {
        Thread.ofPlatform().daemon().name("heart of a hand-written peer").start(() -> {
            try {
                while (true) {
                    send(MessageType.HEARTBEAT, new byte[0]);
                    Thread.sleep(100);
                }
            } catch (IOException | InterruptedException e) {
                // The engine has ended the connection, or the test has.
            }
        });
    }

    @Override
    public void close() throws IOException {
        for (Socket lane : lanes) {
            lane.close();
        }
        control.close();
    }
}
