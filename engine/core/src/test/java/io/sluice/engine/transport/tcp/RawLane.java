package io.sluice.engine.transport.tcp;

import io.sluice.engine.bootstrap.MessageSocket;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.ByteBuffer;

/** Frames over a lane of a raw peer, well formed or not. It knows the layout by itself, so that both must agree. */
final class RawLane {
    static final int WRITE = 1;
    static final int READ = 2;
    static final int READ_DATA = 3;
    static final int READ_FAILED = 4;
    static final int ACK = 5;
    static final int NACK = 6;
    static final int HEADER_BYTES = 48;

    static final int WRITE_BEFORE_SIGNAL = 7;
    static final int WRITE_PAGES = 8;
    static final int READ_PAGES = 9;
    static final int PUT = 16;
    static final int SIGNAL = 17;
    static final int SIGNAL_OF_WRITE = 18;
    static final int FETCH_ADD = 19;
    static final int COMPARE_AND_SWAP = 20;
    static final int FETCHED = 21;
    static final int LONG_HEADER_BYTES = 64;
    private static final int MAGIC = 0x534C4454;

    private final Socket socket;
    private final MessageSocket.Delivery delivery;
    private final DataInputStream in;

    RawLane(Socket socket) {
        this(socket, MessageSocket.Delivery.AT_ONCE);
    }

    RawLane(Socket socket, MessageSocket.Delivery delivery) {
        this.socket = socket;
        this.delivery = delivery;
        try {
            in = new DataInputStream(socket.getInputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The key that a peer presents with a request. */
    record Claim(long handle, long key, long epoch, long offset, long length) {
        Claim handle(long other) {
            return new Claim(other, key, epoch, offset, length);
        }

        Claim key(long other) {
            return new Claim(handle, other, epoch, offset, length);
        }

        Claim epoch(long other) {
            return new Claim(handle, key, other, offset, length);
        }

        Claim at(long from, long count) {
            return new Claim(handle, key, epoch, from, count);
        }
    }

    /** A frame that the engine sent. The payload is that of READ_DATA, the operand that of the longer headers. */
    record Frame(int operation, int status, long count, long length, byte[] payload, long operand) {}

    static byte[] header(int operation, int status, Claim claim) {
        return ByteBuffer.allocate(HEADER_BYTES)
                .putInt(MAGIC)
                .put((byte) operation)
                .put((byte) status)
                .putShort((short) 0)
                .putLong(claim.handle())
                .putLong(claim.key())
                .putLong(claim.epoch())
                .putLong(claim.offset())
                .putLong(claim.length())
                .array();
    }

    /** A frame whose only field is a running count. */
    static byte[] count(int operation, int status, long count) {
        return header(operation, status, new Claim(count, 0, 0, 0, 0));
    }

    static byte[] write(Claim claim, byte[] payload) {
        return join(header(WRITE, 0, claim), payload);
    }

    static byte[] writeBeforeSignal(Claim claim, byte[] payload) {
        return join(header(WRITE_BEFORE_SIGNAL, 0, claim), payload);
    }

    /** A frame with the longer header. */
    static byte[] word(int operation, Claim claim, long operand, long expected) {
        return ByteBuffer.allocate(LONG_HEADER_BYTES)
                .put(header(operation, 0, claim))
                .putLong(operand)
                .putLong(expected)
                .array();
    }

    static byte[] read(Claim claim) {
        return header(READ, 0, claim);
    }

    /** A write of pages, whose bytes are all zero. The claim's range does not matter. */
    static byte[] writePages(Claim claim, long pageBytes, long... offsets) {
        byte[] payload = new byte[Math.toIntExact(pageBytes * offsets.length)];
        long length = (long) offsets.length * Long.BYTES + payload.length;
        return join(header(WRITE_PAGES, 0, claim.at(pageBytes, length)), table(offsets), payload);
    }

    static byte[] readPages(Claim claim, long pageBytes, long... offsets) {
        return join(header(READ_PAGES, 0, claim.at(pageBytes, (long) offsets.length * Long.BYTES)), table(offsets));
    }

    private static byte[] table(long... offsets) {
        ByteBuffer table = ByteBuffer.allocate(offsets.length * Long.BYTES);
        for (long offset : offsets) {
            table.putLong(offset);
        }
        return table.array();
    }

    static byte[] readData(long length) {
        return header(READ_DATA, 0, new Claim(0, 0, 0, 0, length));
    }

    static byte[] join(byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        ByteBuffer all = ByteBuffer.allocate(length);
        for (byte[] part : parts) {
            all.put(part);
        }
        return all.array();
    }

    RawLane send(byte[]... parts) {
        try {
            for (byte[] part : parts) {
                delivery.deliver(part, socket.getOutputStream());
            }
            socket.getOutputStream().flush();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Frame receive() {
        try {
            byte[] header = new byte[HEADER_BYTES];
            in.readFully(header);
            ByteBuffer fields = ByteBuffer.wrap(header);
            if (fields.getInt() != MAGIC) {
                throw new AssertionError("the engine sent bytes that are no frame");
            }
            int operation = fields.get();
            int status = fields.get();
            if (fields.getShort() != 0) {
                throw new AssertionError("the engine sent a frame whose zero is none");
            }
            long count = fields.getLong();
            long length = fields.getLong(40);
            byte[] payload = new byte[operation == READ_DATA || operation == WRITE ? Math.toIntExact(length) : 0];
            in.readFully(payload);
            long operand = 0;
            if (operation >= PUT) {
                operand = in.readLong();
                in.readLong();
            }
            return new Frame(operation, status, count, length, payload, operand);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The operation of the next frame, whose payload is left where it is. */
    int receiveHeader() {
        try {
            byte[] header = new byte[HEADER_BYTES];
            in.readFully(header);
            return header[4];
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
