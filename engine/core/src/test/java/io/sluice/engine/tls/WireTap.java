package io.sluice.engine.tls;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Hands bytes on between an engine and another, and keeps a copy of what it has seen. */
public final class WireTap implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final List<ByteArrayOutputStream> streams = new CopyOnWriteArrayList<>();
    private final int target;

    /**
     * Listens on loopback.
     *
     * @param target the port of the engine that it hands on to
     */
    public WireTap(int target) throws IOException {
        this.target = target;
        Thread.ofVirtual().start(this::accept);
    }

    /** The port to connect to. */
    public int port() {
        return listener.getLocalPort();
    }

    /** A copy of each direction of each socket. */
    public List<byte[]> seen() {
        return streams.stream().map(ByteArrayOutputStream::toByteArray).toList();
    }

    private void accept() {
        try {
            while (true) {
                Socket from = listener.accept();
                Socket to = new Socket(InetAddress.getLoopbackAddress(), target);
                sockets.addAll(List.of(from, to));
                Thread.ofVirtual().start(() -> pass(from, to));
                Thread.ofVirtual().start(() -> pass(to, from));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void pass(Socket from, Socket to) {
        ByteArrayOutputStream copy = new ByteArrayOutputStream();
        streams.add(copy);
        byte[] buffer = new byte[64 * 1024];
        try {
            int count;
            while ((count = from.getInputStream().read(buffer)) >= 0) {
                copy.write(buffer, 0, count);
                to.getOutputStream().write(buffer, 0, count);
            }
            to.shutdownOutput();
        } catch (IOException e) {
            // one of the two has gone
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
