package io.sluice.directory.contract;

import io.sluice.testkit.FreePort;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A TCP relay to a server on loopback that can lose data as a network does: the connections stay open, but nothing
 * passes any more. All methods may be called from any thread.
 */
public final class Wire implements AutoCloseable {
    private static final int BACKLOG = 64;
    private static final int BUFFER_BYTES = 1 << 16;

    private final int beyond;
    private final int port = FreePort.any();
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final AtomicInteger carried = new AtomicInteger();
    private volatile boolean isSwallowing;
    private ServerSocket server;

    /**
     * Creates a relay that passes everything.
     *
     * @param beyond the server's port on loopback
     */
    public Wire(int beyond) {
        this.beyond = beyond;
        this.server = listen();
    }

    /**
     * Returns the port that clients connect to.
     *
     * @return a port on loopback, constant for the relay's life
     */
    public int port() {
        return port;
    }

    /**
     * Returns how many connections have passed data at first.
     *
     * @return the count, which never decreases
     */
    public int carried() {
        return carried.get();
    }

    /** Silences all current connections for good. They stay open; new ones work. */
    public void silence() {
        links.forEach(link -> link.isSilent = true);
    }

    /** Accepts new connections but keeps them silent for good, as all current ones. */
    public void swallow() {
        isSwallowing = true;
        silence();
    }

    /** Resets all connections, and refuses new ones until {@link #open()}. */
    public synchronized void refuse() {
        close();
    }

    /** Lets new connections work. Silenced ones stay silent. */
    public synchronized void open() {
        isSwallowing = false;
        if (server.isClosed()) {
            server = listen();
        }
    }

    private ServerSocket listen() {
        try {
            ServerSocket listening = new ServerSocket();
            listening.setReuseAddress(true);
            listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
            Thread.ofVirtual().name("wire").start(() -> accept(listening));
            return listening;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void accept(ServerSocket listening) {
        try {
            while (true) {
                Link link = new Link(listening.accept());
                links.add(link);
                // checked after adding it to the links: one of the two sides sees the other
                if (isSwallowing) {
                    link.isSilent = true;
                }
                if (listening.isClosed()) {
                    link.close();
                }
                Thread.ofVirtual().start(link::carry);
            }
        } catch (IOException closed) {
            // the regular end
        }
    }

    /** A client's connection and its counterpart to the server. */
    private final class Link {
        private final Socket near;
        private final Socket far = new Socket();
        private volatile boolean isSilent;

        Link(Socket near) {
            this.near = near;
        }

        void carry() {
            try {
                if (!isSilent) {
                    far.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), beyond));
                    carried.incrementAndGet();
                    Thread.ofVirtual().start(() -> pump(far, near));
                }
                pump(near, far);
            } catch (IOException refused) {
                close();
            }
        }

        /** Reads a silenced direction, so that its sender sees no error, but passes on neither bytes nor the end. */
        private void pump(Socket from, Socket to) {
            byte[] bytes = new byte[BUFFER_BYTES];
            try {
                InputStream in = from.getInputStream();
                for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                    if (!isSilent) {
                        OutputStream out = to.getOutputStream();
                        out.write(bytes, 0, read);
                    }
                }
            } catch (IOException broken) {
                // the link ends below
            }
            if (!isSilent || from.equals(near)) {
                close();
            }
        }

        void close() {
            links.remove(this);
            quietly(near);
            quietly(far);
        }

        private static void quietly(Socket socket) {
            try {
                socket.close();
            } catch (IOException alreadyBroken) {
                // there is nothing left to close
            }
        }
    }

    @Override
    public synchronized void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        links.forEach(Link::close);
    }
}
