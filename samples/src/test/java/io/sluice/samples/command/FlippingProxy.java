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

/** Stands between two processes, passes everything on, and flips one bit, once, in the middle of a page. */
final class FlippingProxy implements AutoCloseable {

    private static final int FRAME_MAGIC = 0x534C4454;
    private static final int FRAME_HEADER_BYTES = 48;
    private static final int OPERATION_AT = 4;
    private static final int LENGTH_AT = 40;
    private static final byte WRITE = 1;
    private static final int PAGE_BYTES = 8192;

    private final ServerSocket server;
    private final int target;
    private final AtomicBoolean flipped = new AtomicBoolean();

    private FlippingProxy(ServerSocket server, int target) {
        this.server = server;
        this.target = target;
    }

    /** A proxy in front of a loopback port. */
    static FlippingProxy inFrontOf(int port) throws IOException {
        FlippingProxy proxy = new FlippingProxy(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), port);
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
                pass(near, far, true);
                pass(far, near, false);
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
                // One end is gone, and by closing both the other end hears of it.
            }
        });
    }

    private void copy(InputStream in, OutputStream out, boolean mayFlip) throws IOException {
        byte[] buffer = new byte[256 << 10];
        long passed = 0;
        long flipAt = -1;
        for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
            if (mayFlip && flipAt < 0) {
                flipAt = middleOfAPage(buffer, count, passed);
            }
            if (flipAt >= passed && flipAt < passed + count && flipped.compareAndSet(false, true)) {
                buffer[(int) (flipAt - passed)] ^= 0x10;
            }
            out.write(buffer, 0, count);
            passed += count;
        }
    }

    /** Where, in the stream, the first page's middle is of a write that begins in these bytes; -1 if none does. */
    private static long middleOfAPage(byte[] buffer, int count, long passed) {
        ByteBuffer bytes = ByteBuffer.wrap(buffer, 0, count);
        for (int at = 0; at + FRAME_HEADER_BYTES <= count; at++) {
            if (bytes.getInt(at) == FRAME_MAGIC
                    && bytes.get(at + OPERATION_AT) == WRITE
                    && bytes.getLong(at + LENGTH_AT) >= PAGE_BYTES) {
                return passed + at + FRAME_HEADER_BYTES + PAGE_BYTES / 2;
            }
        }
        return -1;
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
