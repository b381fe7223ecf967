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
import java.util.concurrent.atomic.AtomicInteger;

/** Stands between two engines and hands each direction of each socket on as its alteration says. */
final class AlteringPath implements AutoCloseable {
    private static final int READ_BYTES = 64 * 1024;

    /** Changes the bytes of one direction of one socket. */
    interface Alteration {
        void pass(byte[] bytes, int count, OutputStream to) throws IOException;
    }

    /** Makes the alteration of a direction. */
    interface Alterations {
        /**
         * Called once for each.
         *
         * @param socket 0 for the control channel, then the lanes
         * @param towardsTarget whether these are the initiator's bytes
         */
        Alteration of(int socket, boolean towardsTarget);
    }

    private final ServerSocket server;
    private final Alterations alterations;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final AtomicInteger accepted = new AtomicInteger();
    private volatile int targetPort;

    AlteringPath(Alterations alterations) {
        this.alterations = alterations;
        try {
            server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofPlatform().daemon().name("altering path").start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    void leadsTo(int port) {
        targetPort = port;
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket near = server.accept();
                Socket far = new Socket(InetAddress.getLoopbackAddress(), targetPort);
                near.setTcpNoDelay(true);
                far.setTcpNoDelay(true);
                sockets.add(near);
                sockets.add(far);
                int number = accepted.getAndIncrement();
                begin(near, far, alterations.of(number, true));
                begin(far, near, alterations.of(number, false));
            } catch (IOException e) {
                // Closed, or the target is.
            }
        }
    }

    private static void begin(Socket from, Socket to, Alteration alteration) {
        Thread.ofPlatform().daemon().start(() -> {
            byte[] bytes = new byte[READ_BYTES];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
                    alteration.pass(bytes, count, out);
                }
                to.shutdownOutput();
            } catch (IOException e) {
                close(from);
                close(to);
            }
        });
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is gone already.
        }
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        sockets.forEach(AlteringPath::close);
    }
}
