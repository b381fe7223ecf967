package io.sluice.vertx;

import io.sluice.engine.EngineAddress;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A wire to an engine that can be cut or frozen without a message to either end. */
final class Severed implements AutoCloseable {
    private final ServerSocket server;
    private final EngineAddress beyond;
    private final List<Socket> sockets = new ArrayList<>();
    private final CountDownLatch thawed = new CountDownLatch(1);
    private volatile boolean frozen;

    Severed(EngineAddress beyond) throws IOException {
        this.beyond = beyond;
        this.server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    EngineAddress address() {
        return new EngineAddress("127.0.0.1", server.getLocalPort(), beyond.engineId());
    }

    private void accept() {
        try {
            while (true) {
                Socket near = server.accept();
                Socket far = new Socket(beyond.host(), beyond.port());
                synchronized (sockets) {
                    sockets.add(near);
                    sockets.add(far);
                }
                Thread.ofVirtual().start(() -> pump(near, far));
                Thread.ofVirtual().start(() -> pump(far, near));
            }
        } catch (IOException closed) {
            // as it should be in the end
        }
    }

    private void pump(Socket from, Socket to) {
        byte[] bytes = new byte[1 << 16];
        try (InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream()) {
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                if (frozen) {
                    thawed.await();
                }
                out.write(bytes, 0, read);
            }
        } catch (IOException | InterruptedException cut) {
            // as it should be in the end
        }
    }

    /** Nothing passes any more, for ever. */
    void freeze() {
        frozen = true;
    }

    void cut() throws IOException {
        synchronized (sockets) {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        cut();
        thawed.countDown();
    }
}
