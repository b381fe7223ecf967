package io.sluice.samples.mover.http;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Clients whose requests never end, though a byte comes every now and then. They are gone once this is closed. */
public final class TricklingClients implements AutoCloseable {

    private static final Duration PAUSE = Duration.ofMillis(20);

    private final List<Socket> sockets = new ArrayList<>();
    private final AtomicInteger cut = new AtomicInteger();

    private final URI server;
    private final String beginning;

    /** Connects some, one after the other, each with the beginning of a request. */
    public TricklingClients(String url, int count, String beginning) throws IOException {
        this.server = URI.create(url);
        this.beginning = beginning;
        connect(count);
    }

    /** Connects more. */
    public final void connect(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            Socket socket = new Socket(server.getHost(), server.getPort());
            sockets.add(socket);
            Thread.ofPlatform().daemon().start(() -> trickle(socket));
            Thread.ofPlatform().daemon().start(() -> awaitEnd(socket));
        }
    }

    private void trickle(Socket socket) {
        try {
            OutputStream out = socket.getOutputStream();
            out.write(beginning.getBytes(StandardCharsets.US_ASCII));
            while (!socket.isClosed()) {
                out.write('a');
                Patience.pause(PAUSE);
            }
        } catch (IOException e) {
            // the other thread sees that, too
        }
    }

    private void awaitEnd(Socket socket) {
        try {
            socket.getInputStream().readAllBytes();
        } catch (IOException e) {
            // reset: as good as closed
        }
        cut.incrementAndGet();
    }

    /** Waits until the server has cut that many. */
    public void awaitCut(int count) {
        Patience.until(count + " clients are cut", () -> cut.get() >= count);
    }

    @Override
    public void close() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
