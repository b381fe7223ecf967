package io.sluice.samples.mover.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Stands between two engines, passes everything on, and stops for as long as it is told to. */
final class PausingProxy implements AutoCloseable {

    private final ServerSocket server;
    private final int target;
    private final boolean holdsAnswers;
    private volatile boolean stopping;
    private long stopAfter = Long.MAX_VALUE;
    private final Object turn = new Object();
    private long passed;
    private boolean paused;

    /**
     * A proxy in front of a loopback port.
     *
     * @param holdsAnswers whether it holds what goes to the side that connects, or else what comes from there
     */
    PausingProxy(int target, boolean holdsAnswers) throws IOException {
        this.target = target;
        this.holdsAnswers = holdsAnswers;
        this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().name("proxy").start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    /** From now on so many bytes are passed on in the direction that it holds, and then nothing any more. */
    void stopAfter(long bytes) {
        synchronized (turn) {
            stopAfter = passed + bytes;
        }
    }

    boolean hasStopped() {
        synchronized (turn) {
            return paused;
        }
    }

    void resume() {
        synchronized (turn) {
            stopAfter = Long.MAX_VALUE;
            paused = false;
            turn.notifyAll();
        }
    }

    private void accept() {
        try {
            while (true) {
                Socket near = server.accept();
                Socket far = new Socket(InetAddress.getLoopbackAddress(), target);
                near.setTcpNoDelay(true);
                far.setTcpNoDelay(true);
                pass(near, far, !holdsAnswers);
                pass(far, near, holdsAnswers);
            }
        } catch (IOException closed) {
            // The proxy is closed, or its target is gone.
        }
    }

    private void pass(Socket from, Socket to, boolean held) {
        Thread.ofPlatform().daemon().name("proxy").start(() -> {
            try (from;
                    to) {
                copy(from.getInputStream(), to.getOutputStream(), held);
            } catch (IOException gone) {
                // One end is gone, and closing both tells the other end.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private void copy(InputStream in, OutputStream out, boolean held) throws IOException, InterruptedException {
        byte[] buffer = new byte[64 << 10];
        for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
            if (held) {
                synchronized (turn) {
                    passed += count;
                    while (passed > stopAfter && !stopping) {
                        paused = true;
                        turn.wait();
                    }
                }
            }
            out.write(buffer, 0, count);
        }
    }

    @Override
    public void close() {
        stopping = true;
        resume();
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
