package io.sluice.engine.bootstrap;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.TransferEngine;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/** A way to an engine on which data trickles at 200 kB/s while what is small, as heartbeats are, passes at once. */
final class TricklingPath implements AutoCloseable {
    private static final int PIECE_BYTES = 10_000;
    private static final int SMALL = 1_000;
    private static final long PAUSE_MILLIS = 50;
    // without it the kernel would take megabytes at once
    private static final int BUFFER_BYTES = 32 << 10;

    private final ServerSocket server;
    private final TransferEngine target;
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private final AtomicLong passed = new AtomicLong();

    TricklingPath(TransferEngine target) throws IOException {
        this.target = target;
        server = new ServerSocket();
        server.setReceiveBufferSize(BUFFER_BYTES);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Thread.ofPlatform().daemon().name("trickling path").start(this::accept);
    }

    EngineAddress address() {
        return new EngineAddress("127.0.0.1", server.getLocalPort(), target.id());
    }

    /** How many bytes of data have passed, in both directions. */
    long passed() {
        return passed.get();
    }

    private void accept() {
        try {
            while (true) {
                Socket near = server.accept();
                Socket far = new Socket();
                sockets.add(near);
                sockets.add(far);
                far.setReceiveBufferSize(BUFFER_BYTES);
                far.connect(new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), target.address().port()));
                Thread.ofPlatform().daemon().start(() -> forward(near, far));
                Thread.ofPlatform().daemon().start(() -> forward(far, near));
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void forward(Socket from, Socket to) {
        byte[] piece = new byte[PIECE_BYTES];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
                out.write(piece, 0, count);
                if (count > SMALL) {
                    passed.addAndGet(count);
                    Thread.sleep(PAUSE_MILLIS);
                }
            }
        } catch (IOException | InterruptedException e) {
            // One of them is closed, and so both are.
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
