package io.sluice.samples.command;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

/** Stands between two processes, passes everything on, and flips one bit, once, of what it was told to look for. */
final class FlippingProxy implements AutoCloseable {

    private static final int FRAME_MAGIC = 0x534C4454;
    private static final int FRAME_HEADER_BYTES = 48;
    private static final int LONGER_HEADER_BYTES = 64;
    private static final int OPERATION_AT = 4;
    private static final int LENGTH_AT = 40;
    private static final int PAGE_BYTES = 8192;

    /** The bytes to damage. */
    enum Victim {
        /** The middle of the first page of a write. */
        WRITTEN_PAGE(1, PAGE_BYTES, FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + PAGE_BYTES / 2),
        /** The middle of the first page that answers a read. */
        READ_PAGE(3, PAGE_BYTES, FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + PAGE_BYTES / 2),
        /** The operand of a signal. */
        SIGNAL_ADDEND(17, 0, LONGER_HEADER_BYTES, FRAME_HEADER_BYTES + Long.BYTES - 1),
        /** The operand of an atomic operation. */
        FETCH_ADD_ADDEND(19, 0, LONGER_HEADER_BYTES, FRAME_HEADER_BYTES + Long.BYTES - 1),
        /** The result of an atomic operation. */
        FETCHED_VALUE(21, 0, LONGER_HEADER_BYTES, FRAME_HEADER_BYTES + Long.BYTES - 1);

        private final int operation;
        private final int leastLength;
        private final int headerBytes;
        private final int flipAt;

        Victim(int operation, int leastLength, int headerBytes, int flipAt) {
            this.operation = operation;
            this.leastLength = leastLength;
            this.headerBytes = headerBytes;
            this.flipAt = flipAt;
        }

        /** Whether it goes from the side that connects to the one that listens. */
        private boolean isRequest() {
            return this != READ_PAGE && this != FETCHED_VALUE;
        }

        /** Where, in the stream, the bit is of a frame that begins in these bytes; -1 if none does. */
        private long find(byte[] buffer, int count, long passed) {
            ByteBuffer bytes = ByteBuffer.wrap(buffer, 0, count);
            for (int at = 0; at + headerBytes <= count; at++) {
                if (bytes.getInt(at) == FRAME_MAGIC
                        && bytes.get(at + OPERATION_AT) == operation
                        && bytes.getLong(at + LENGTH_AT) >= leastLength) {
                    return passed + at + flipAt;
                }
            }
            return -1;
        }
    }

    private final ServerSocket server;
    private final int target;
    private final Victim victim;
    private final AtomicBoolean flipped = new AtomicBoolean();

    private FlippingProxy(ServerSocket server, int target, Victim victim) {
        this.server = server;
        this.target = target;
        this.victim = victim;
    }

    /** A proxy in front of a loopback port. */
    static FlippingProxy inFrontOf(int port, Victim victim) throws IOException {
        FlippingProxy proxy =
                new FlippingProxy(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), port, victim);
        Thread.ofPlatform().daemon().name("proxy").start(proxy::accept);
        return proxy;
    }

    int port() {
        return server.getLocalPort();
    }

    boolean hasFlipped() {
        return flipped.get();
    }

    private void accept() {
        try {
            while (true) {
                Socket near = server.accept();
                Socket far = new Socket(InetAddress.getLoopbackAddress(), target);
                near.setTcpNoDelay(true);
                far.setTcpNoDelay(true);
                pass(near, far, victim.isRequest());
                pass(far, near, !victim.isRequest());
            }
        } catch (IOException closed) {
            // The proxy is closed, or its target is gone.
        }
    }

    private void pass(Socket from, Socket to, boolean mayFlip) {
        Thread.ofPlatform().daemon().name("proxy").start(() -> {
            try (from;
                    to) {
                copy(from.getInputStream(), to.getOutputStream(), mayFlip);
            } catch (IOException gone) {
                // One end is gone, and closing both tells the other end.
            }
        });
    }

    private void copy(InputStream in, OutputStream out, boolean mayFlip) throws IOException {
        byte[] buffer = new byte[256 << 10];
        long passed = 0;
        long flipAt = -1;
        for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
            if (mayFlip && flipAt < 0) {
                flipAt = victim.find(buffer, count, passed);
            }
            if (flipAt >= passed && flipAt < passed + count && flipped.compareAndSet(false, true)) {
                buffer[(int) (flipAt - passed)] ^= 0x10;
            }
            out.write(buffer, 0, count);
            passed += count;
        }
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
