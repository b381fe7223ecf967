package io.sluice.engine.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** A connect with any outcome leaves no descriptor open. */
class DescriptorsComeBackTest {
    @Test
    void engineThatClosesWhileItConnects() throws Exception {
        TransferEngine target = LinkedEngines.open(options -> {});
        try {
            connectAndClose(target, 0);
            long before = OpenDescriptors.settledCount();
            for (int i = 0; i < 200; i++) {
                connectAndClose(target, i % 3 == 1 ? i * 1000 : 0);
            }
            assertThat(OpenDescriptors.countOnceAtMost(before)).isLessThanOrEqualTo(before);
        } finally {
            LinkedEngines.get(target.closeAsync());
        }
    }

    private static void connectAndClose(TransferEngine target, int pauseNanos) throws Exception {
        TransferEngine engine = LinkedEngines.open(options -> options.noListener());
        CompletableFuture<Connection> connect = engine.connect(target.address());
        if (pauseNanos > 0) {
            Thread.sleep(0, pauseNanos);
        }
        LinkedEngines.get(engine.closeAsync());
        try {
            LinkedEngines.get(connect);
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(SluiceException.class);
        }
    }

    @Test
    void connectWhoseLaneIsNeverAnswered() throws Exception {
        TransferEngine target = LinkedEngines.open(options -> {});
        // each must come as far as its lane within it
        Duration timeout = Patience.scaled(Duration.ofMillis(600));
        TransferEngine initiator =
                LinkedEngines.open(options -> options.noListener().connectTimeout(timeout));
        try (SilentLanes path = new SilentLanes(target)) {
            assertFails(initiator, path);
            long before = OpenDescriptors.settledCount() - path.lanes();
            // on a busy machine one may not come as far as its lane
            Patience.until("lanes are not answered", () -> {
                assertFails(initiator, path);
                return path.lanes() >= 3;
            });
            // the far ends of the lanes, which the path holds, and no near ones
            assertThat(OpenDescriptors.countOnceAtMost(before + path.lanes()))
                    .isLessThanOrEqualTo(before + path.lanes());
        } finally {
            LinkedEngines.get(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
        }
    }

    private static void assertFails(TransferEngine initiator, SilentLanes path) {
        assertThatThrownBy(() -> LinkedEngines.get(initiator.connect(path.address())))
                .hasCauseInstanceOf(ConnectFailedException.class);
    }

    /** Every second socket that comes, which is the lane, is held and never answered; the others reach the target. */
    private static final class SilentLanes implements AutoCloseable {
        private final TransferEngine target;
        private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final List<Socket> held = new CopyOnWriteArrayList<>();

        SilentLanes(TransferEngine target) throws IOException {
            this.target = target;
            Thread.ofPlatform().daemon().start(this::accept);
        }

        EngineAddress address() {
            return new EngineAddress("127.0.0.1", server.getLocalPort(), target.id());
        }

        int lanes() {
            return held.size();
        }

        private void accept() {
            try {
                while (true) {
                    Socket near = server.accept();
                    Socket far = new Socket(
                            InetAddress.getLoopbackAddress(), target.address().port());
                    Thread.ofPlatform().daemon().start(() -> forward(near, far));
                    Thread.ofPlatform().daemon().start(() -> forward(far, near));
                    held.add(server.accept());
                }
            } catch (IOException e) {
                // Closed.
            }
        }

        private static void forward(Socket from, Socket to) {
            try (from;
                    to) {
                from.getInputStream().transferTo(to.getOutputStream());
            } catch (IOException e) {
                // One of them is closed, and so both are.
            }
        }

        @Override
        public void close() throws IOException {
            server.close();
            for (Socket socket : held) {
                socket.close();
            }
        }
    }
}
