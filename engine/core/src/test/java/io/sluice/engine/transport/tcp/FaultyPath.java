package io.sluice.engine.transport.tcp;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Stands between two engines and forwards each socket's bytes until a test has it stall, slow down or cut it, at once
 * or after a number of bytes.
 */
final class FaultyPath implements AutoCloseable {
    private static final int PIECE_BYTES = 64 << 10;
    static final int SLOW_PIECE_BYTES = 16 << 10;

    private final ServerSocket server;
    private final List<Link> links = new CopyOnWriteArrayList<>();
    private final Map<Integer, Fault> faults = new ConcurrentHashMap<>();
    private volatile int targetPort;

    /** The fault of a socket. */
    enum Break {
        /** Both ends get a reset. */
        RESET,
        /** Later bytes of this direction are swallowed; the sockets stay open. */
        BLACK_HOLE,
        /** This direction ends in order, and the other goes on. */
        HALF_CLOSE
    }

    /**
     * When a socket breaks.
     *
     * @param outward whether it is the initiator's bytes that count
     * @param bytes how many of them still pass
     * @param what how it breaks
     */
    record Fault(boolean outward, long bytes, Break what) {}

    FaultyPath() {
        try {
            server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofPlatform().daemon().name("faulty path").start(this::accept);
    }

    /** One socket of the initiator and its continuation to the target. */
    static final class Link {
        private final Socket near;
        private final Socket far;
        private volatile boolean stalled;
        private volatile boolean swallows;
        private volatile long pauseNanos;
        private volatile @Nullable Fault fault;
        private final AtomicLong outward = new AtomicLong();
        private final AtomicLong inward = new AtomicLong();

        private Link(Socket near, Socket far, @Nullable Fault fault) {
            this.near = near;
            this.far = far;
            this.fault = fault;
        }

        private void begin() {
            Thread.ofPlatform().daemon().start(() -> forward(near, far, outward));
            Thread.ofPlatform().daemon().start(() -> forward(far, near, inward));
        }

        /** Bytes that have passed: the initiator's, or the target's. */
        long passed(boolean initiators) {
            return (initiators ? outward : inward).get();
        }

        /** Breaks once so many more bytes have passed. */
        void breakAfter(boolean initiators, long bytes, Break what) {
            fault = new Fault(initiators, passed(initiators) + bytes, what);
        }

        /** Forwards what still may pass; false if nothing goes on in this direction. */
        private boolean pass(byte[] piece, int count, OutputStream out, AtomicLong passed) throws IOException {
            Fault planned = fault;
            if (planned == null || planned.outward != (passed == outward) || passed.get() + count < planned.bytes) {
                out.write(piece, 0, count);
                passed.addAndGet(count);
                return true;
            }
            int last = (int) Math.max(0, planned.bytes - passed.get());
            out.write(piece, 0, last);
            passed.addAndGet(last);
            switch (planned.what) {
                case RESET -> throw new IOException("planned");
                case HALF_CLOSE -> {
                    return false;
                }
                case BLACK_HOLE -> {
                    // the target must not see the end either
                    swallows = true;
                    return false;
                }
            }
            return false;
        }

        private void forward(Socket from, Socket to, AtomicLong passed) {
            byte[] piece = new byte[PIECE_BYTES];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int count = read(in, piece); count >= 0; count = read(in, piece)) {
                    LockSupport.parkNanos(pauseNanos);
                    while (stalled) {
                        LockSupport.parkNanos(1_000_000);
                    }
                    if (!pass(piece, count, out, passed)) {
                        break;
                    }
                }
                if (swallows) {
                    in.transferTo(OutputStream.nullOutputStream());
                } else {
                    to.shutdownOutput();
                }
            } catch (IOException e) {
                reset();
            }
        }

        private int read(InputStream in, byte[] piece) throws IOException {
            return in.read(piece, 0, pauseNanos == 0 ? PIECE_BYTES : SLOW_PIECE_BYTES);
        }

        /** From now on nothing passes, in neither direction, and the sockets stay open. */
        void stall() {
            stalled = true;
        }

        void resume() {
            stalled = false;
        }

        /** From now on the bytes pass in pieces of {@link #SLOW_PIECE_BYTES} at most, each of which waits before. */
        void slowDown(long nanos) {
            pauseNanos = nanos;
        }

        /** Ends both sockets without a goodbye. */
        void reset() {
            for (Socket socket : new Socket[] {near, far}) {
                try {
                    socket.setSoLinger(true, 0);
                    socket.close();
                } catch (IOException e) {
                    // It is gone already.
                }
            }
            stalled = false;
        }
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket near = server.accept();
                Socket far = new Socket(InetAddress.getLoopbackAddress(), targetPort);
                near.setTcpNoDelay(true);
                far.setTcpNoDelay(true);
                Link link = new Link(near, far, faults.get(links.size()));
                links.add(link);
                link.begin();
            } catch (IOException e) {
                // Closed, or the target is.
            }
        }
    }

    /** Plans how the socket of this number will break, before it is opened. */
    void plan(int link, Fault fault) {
        faults.put(link, fault);
    }

    int port() {
        return server.getLocalPort();
    }

    void leadsTo(int port) {
        targetPort = port;
    }

    /**
     * The links in the order in which they were opened: the bootstrap's, which becomes the control channel, then the
     * lanes.
     */
    List<Link> links() {
        return links;
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        links.forEach(Link::reset);
    }
}
