package io.sluice.engine.transport.tcp;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/** Stands between two engines and forwards each socket's bytes until it is told to stall, slow down or cut it. */
final class FaultyPath implements AutoCloseable {
    private static final int PIECE_BYTES = 64 << 10;

    private final ServerSocket server;
    private final List<Link> links = new CopyOnWriteArrayList<>();
    private volatile int targetPort;

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
        private volatile long pauseNanos;

        private Link(Socket near, Socket far) {
            this.near = near;
            this.far = far;
        }

        private void begin() {
            Thread.ofPlatform().daemon().start(() -> forward(near, far));
            Thread.ofPlatform().daemon().start(() -> forward(far, near));
        }

        private void forward(Socket from, Socket to) {
            byte[] piece = new byte[PIECE_BYTES];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
                    LockSupport.parkNanos(pauseNanos);
                    while (stalled) {
                        LockSupport.parkNanos(1_000_000);
                    }
                    out.write(piece, 0, count);
                }
                to.shutdownOutput();
            } catch (IOException e) {
                reset();
            }
        }

        /** From now on nothing passes, in neither direction, and the sockets stay open. */
        void stall() {
            stalled = true;
        }

        void resume() {
            stalled = false;
        }

        /** From now on every piece of 64 KiB waits before it passes. */
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
                Link link = new Link(near, far);
                links.add(link);
                link.begin();
            } catch (IOException e) {
                // Closed, or the target is.
            }
        }
    }

    int port() {
        return server.getLocalPort();
    }

    void leadsTo(int port) {
        targetPort = port;
    }

    /** In the order in which they were opened: the bootstrap's, which becomes the control channel, then the lanes. */
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
