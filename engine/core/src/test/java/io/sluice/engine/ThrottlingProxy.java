package io.sluice.engine;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** Passes bytes on between real sockets, all that go to the target at one bounded rate together. */
final class ThrottlingProxy implements AutoCloseable {
    private static final int PIECE = 8 << 10;
    private static final int SOCKET_BUFFER = 64 << 10;

    private final ServerSocket listening;
    private final EngineAddress target;
    private final long bytesPerSecond;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private long freeAt = System.nanoTime();

    ThrottlingProxy(EngineAddress target, long bytesPerSecond) throws IOException {
        this.target = target;
        this.bytesPerSecond = bytesPerSecond;
        listening = new ServerSocket();
        listening.setReceiveBufferSize(SOCKET_BUFFER);
        listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
        Thread.ofVirtual().start(this::accept);
    }

    EngineAddress address() {
        return EngineAddress.of("127.0.0.1", listening.getLocalPort());
    }

    private void accept() {
        try {
            while (true) {
                Socket from = listening.accept();
                Socket to = new Socket();
                to.setSendBufferSize(SOCKET_BUFFER);
                to.connect(new InetSocketAddress("127.0.0.1", target.port()));
                from.setTcpNoDelay(true);
                to.setTcpNoDelay(true);
                sockets.add(from);
                sockets.add(to);
                Thread.ofVirtual().start(() -> pass(from, to, true));
                Thread.ofVirtual().start(() -> pass(to, from, false));
            }
        } catch (IOException closed) {
            // it was closed
            return;
        }
    }

    private void pass(Socket from, Socket to, boolean throttled) {
        byte[] piece = new byte[PIECE];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            int length;
            while ((length = in.read(piece)) > 0) {
                if (throttled) {
                    waitForTurn(length);
                }
                out.write(piece, 0, length);
            }
        } catch (IOException closed) {
            // one end has closed, and so does the other
            return;
        } finally {
            sockets.remove(from);
            sockets.remove(to);
        }
    }

    private void waitForTurn(int bytes) {
        long until;
        synchronized (this) {
            freeAt = Math.max(freeAt, System.nanoTime()) + bytes * 1_000_000_000L / bytesPerSecond;
            until = freeAt;
        }
        long left;
        while ((left = until - System.nanoTime()) > 0) {
            LockSupport.parkNanos(left);
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
