package io.sluice.engine.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import io.sluice.jni.Sockets;
import io.sluice.testkit.Patience;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import org.junit.jupiter.api.Test;

/** A socket that breaks in the midst of a frame can still be spoken to and closed, though nothing arrives any more. */
class BrokenControlSocketTest {
    private static final int FRAME_BYTES = 60_000;

    @Test
    void shorterFrameAfterOneThatWasCutShort() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int descriptor =
                    SocketConnect.begin(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getLocalPort()));
            assertThat(descriptor).isNotNegative();
            Tasks loop = new Tasks();
            FramedSocket socket;
            try (Socket peer = server.accept()) {
                // a reset, not an orderly end
                peer.setSoLinger(true, 0);
                Sockets.setSendBuffer(descriptor, 8192);
                socket = new FramedSocket(loop, descriptor, false, false, 1 << 20, new Ignoring());
                for (int i = 0; i < 200; i++) {
                    socket.send(MessageType.NOTIFY, new byte[FRAME_BYTES]);
                }
                // the peer does not read, so that a frame stays partly sent
                loop.runAll();
                assertThat(socket.hasRoom()).isFalse();
            }
            Patience.pause(Duration.ofMillis(50));
            // these meet the reset
            socket.send(MessageType.HEARTBEAT, new byte[0]);
            socket.flushNow();
            socket.send(MessageType.GOODBYE, new byte[46]);
            socket.flushNow();
            Path link = Path.of("/proc/self/fd", Integer.toString(descriptor));
            Path before = socket.isClosed() ? null : Files.readSymbolicLink(link);
            socket.close();
            assertThat(socket.isClosed()).isTrue();
            // another thread may have got the number meanwhile
            if (before != null && Files.exists(link, LinkOption.NOFOLLOW_LINKS)) {
                assertThat(Files.readSymbolicLink(link)).isNotEqualTo(before);
            }
            loop.runAll();
        }
    }

    /** Runs what it is given when the test says so. */
    private static final class Tasks implements EventLoop {
        private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();

        void runAll() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        }

        @Override
        public void addSource(Source source) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void removeSource(Source source) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long now() {
            return System.nanoTime();
        }

        @Override
        public Watch watch(int descriptor, ReadinessHandler handler) {
            return new Watch() {
                @Override
                public void interest(boolean readable, boolean writable) {}

                @Override
                public void cancel() {}
            };
        }

        @Override
        public void atEndOfCycle(Runnable task) {
            tasks.add(task);
        }

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        @Override
        public void arm(Deadline deadline, long at) {}

        @Override
        public void disarm(Deadline deadline) {}
    }

    private static final class Ignoring implements FramedSocket.Handler {
        @Override
        public void message(int type, ByteBuffer body) {}

        @Override
        public void broken(String reason, Throwable cause) {}
    }
}
