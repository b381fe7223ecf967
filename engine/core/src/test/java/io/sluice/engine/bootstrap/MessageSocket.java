package io.sluice.engine.bootstrap;

import io.sluice.engine.control.MessageType;
import io.sluice.testkit.Patience;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;

/** Messages of the bootstrap and the control channel over a plain socket, well formed or not. */
public final class MessageSocket implements AutoCloseable {
    private static final int MAGIC = 0x534C;
    private static final int VERSION = 1;
    private static final int HEADER = 8;
    private static final int PATIENCE_MILLIS = Math.toIntExact(Patience.BOUND.toMillis());
    private static final int MAX_BODY = 2 << 20;

    /** A whole message. */
    public record Message(int type, byte[] body) {
        public ByteBuffer buffer() {
            return ByteBuffer.wrap(body);
        }
    }

    /** Changes the bytes on their way out. */
    @FunctionalInterface
    public interface Delivery {
        Delivery AT_ONCE = (bytes, to) -> to.write(bytes);

        void deliver(byte[] bytes, OutputStream to) throws IOException;
    }

    private final Socket socket;
    private final DataInputStream in;
    private final Delivery delivery;

    public MessageSocket(Socket socket, Delivery delivery) {
        this(socket, delivery, PATIENCE_MILLIS);
    }

    /**
     * Takes a socket over.
     *
     * @param patienceMillis how long a message of the engine is waited for
     */
    public MessageSocket(Socket socket, Delivery delivery, int patienceMillis) {
        this.socket = socket;
        this.delivery = delivery;
        try {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(patienceMillis);
            in = new DataInputStream(socket.getInputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static byte[] header(int magic, int version, int type, int length) {
        return ByteBuffer.allocate(HEADER)
                .putShort((short) magic)
                .put((byte) version)
                .put((byte) type)
                .putInt(length)
                .array();
    }

    public static byte[] encode(int type, byte[] body) {
        return ByteBuffer.allocate(HEADER + body.length)
                .put(header(MAGIC, VERSION, type, body.length))
                .put(body)
                .array();
    }

    public void send(int type, byte[] body) {
        sendRaw(encode(type, body));
    }

    /** Any bytes, as they are. */
    public synchronized void sendRaw(byte[] bytes) {
        try {
            OutputStream out = socket.getOutputStream();
            delivery.deliver(bytes, out);
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The next message of any type. */
    public Message receive() {
        try {
            int magic = in.readUnsignedShort();
            int version = in.readUnsignedByte();
            int type = in.readUnsignedByte();
            if (magic != MAGIC || version != VERSION) {
                throw new AssertionError("the engine sent magic " + magic + ", version " + version);
            }
            int length = in.readInt();
            if (length < 0 || length > MAX_BODY) {
                throw new AssertionError("the engine sent a message of " + length + " bytes");
            }
            byte[] body = new byte[length];
            in.readFully(body);
            return new Message(type, body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The next message of this type; what the engine says of itself in between is passed over. */
    public Message receive(int type) {
        Message message = receive();
        while (message.type() != type) {
            if (message.type() != MessageType.HEARTBEAT && message.type() != MessageType.NOTIFY_PROGRESS) {
                throw new AssertionError("expected a message of type " + type + ", not " + message.type());
            }
            message = receive();
        }
        return message;
    }

    /** Waits until the engine ends the connection, by an orderly end or a reset. */
    public void awaitEnd() {
        awaitEnd(socket);
    }

    /** The same for any socket. Ignores bytes before the end. */
    public static void awaitEnd(Socket socket) {
        awaitEnd(socket, Patience.BOUND);
    }

    public static void awaitEnd(Socket socket, Duration bound) {
        byte[] passedOver = new byte[4096];
        long start = System.nanoTime();
        try {
            socket.setSoTimeout(Math.toIntExact(bound.toMillis()));
            while (socket.getInputStream().read(passedOver) >= 0) {
                if (System.nanoTime() - start > bound.toNanos()) {
                    throw new AssertionError("the engine keeps talking");
                }
            }
        } catch (SocketTimeoutException e) {
            throw new AssertionError("the engine keeps the socket open", e);
        } catch (IOException reset) {
            // It has ended all the same.
        }
    }

    public Socket socket() {
        return socket;
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
