package io.sluice.directory;

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
import java.util.concurrent.atomic.AtomicInteger;

/** A wire to an engine that lets nothing through before it is opened, so that who connects is held up in the middle. */
final class SlowWire implements AutoCloseable {
    private final ServerSocket server;
    private final EngineAddress beyond;
    private final List<Socket> sockets = new ArrayList<>();
    private final CountDownLatch opened = new CountDownLatch(1);
    private final AtomicInteger accepted = new AtomicInteger();

    SlowWire(EngineAddress beyond) throws IOException {
        this.beyond = beyond;
        this.server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    /** The engine's, as far as who connects can tell. */
    EngineAddress address() {
        return new EngineAddress("127.0.0.1", server.getLocalPort(), beyond.engineId());
    }

    /** How many have come. */
    int accepted() {
        return accepted.get();
    }

    /** Lets everything through, what came before as well. */
    void open() {
        opened.countDown();
    }

    private void accept() {
        try {
            while (true) {
                Socket near = server.accept();
                keep(near);
                accepted.incrementAndGet();
                Thread.ofVirtual().start(() -> goOn(near));
            }
        } catch (IOException closed) {
            // as it should be in the end
        }
    }

    /** Only now, for an engine hangs up on those that connect and say nothing. */
    private void goOn(Socket near) {
        try {
            opened.await();
            Socket far = new Socket(beyond.host(), beyond.port());
            keep(far);
            Thread.ofVirtual().start(() -> pump(far, near));
            pump(near, far);
        } catch (IOException | InterruptedException cut) {
            // as it should be in the end
        }
    }

    private void keep(Socket socket) {
        synchronized (sockets) {
            sockets.add(socket);
        }
    }

    private static void pump(Socket from, Socket to) {
        byte[] bytes = new byte[1 << 16];
        try (InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream()) {
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                out.write(bytes, 0, read);
            }
        } catch (IOException cut) {
            // as it should be in the end
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        synchronized (sockets) {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
        open();
    }
}
