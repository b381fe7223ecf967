package io.sluice.engine.tls;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.LimitExceededException;
import io.sluice.engine.RefusalReason;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.security.RefusedBeforeTlsException;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An initiator that is refused before its TLS handshake learns the reason, as far as it can be said in the clear. */
class TlsRefusalTest {
    private static final int SILENT = 12;

    @TempDir
    private Path folder;

    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<Socket> sockets = new ArrayList<>();
    private TlsFiles target;
    private TransferEngine initiator;

    @BeforeEach
    void makeCertificates() {
        TestAuthority authority = new TestAuthority(folder, "authority");
        target = authority.issue("CN=target,O=Example");
        initiator = engine(authority.issue("CN=initiator,O=Example"), options -> {});
    }

    @AfterEach
    void close() throws IOException {
        closeSockets();
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
    }

    private void closeSockets() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        sockets.clear();
    }

    private TransferEngine engine(TlsFiles files, Consumer<EngineOptions.Builder> more) {
        TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("tcp"))
                .tls(files.options())
                .with(more)
                .build());
        engines.add(engine);
        return engine;
    }

    @Test
    void moreHandshakesASecondThanAllowed() {
        Patience.until("no socket of a round is closed for its silence", () -> {
            TransferEngine accepting = engine(target, options -> options.maxHandshakesPerSecond(2));
            List<CompletableFuture<Connection>> connects = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                connects.add(initiator.connect(accepting.address()));
            }
            int refused = 0;
            for (CompletableFuture<Connection> connect : connects) {
                try {
                    Patience.await(connect);
                } catch (LimitExceededException limit) {
                    refused++;
                    assertThat(limit)
                            .hasMessageContaining("maxHandshakesPerSecond")
                            .hasMessageContaining("try again")
                            .hasCauseInstanceOf(RefusedBeforeTlsException.class);
                } catch (ConnectFailedException late) {
                    // a busy machine: a socket that says nothing for three seconds is closed, and so is not counted
                    return false;
                }
            }
            assertThat(refused).isBetween(1, 18);
            int count = refused;
            Patience.until("each is counted", () -> accepting.metrics().handshakesRefused(RefusalReason.RATE) >= count);
            assertThat(accepting.metrics().handshakesRefused(RefusalReason.RATE))
                    .isEqualTo(count);
            assertThat(accepting.metrics().handshakesRefused(RefusalReason.AUTHENTICATION))
                    .isZero();
            return true;
        });
    }

    /** With data in TLS a lane costs a handshake of its own. */
    @Test
    void laneThatIsOneHandshakeTooMany() {
        TransferEngine accepting = engine(
                target, options -> options.tls(target.options().data(true)).maxHandshakesPerSecond(1));
        Patience.until("a lane is refused", () -> {
            try {
                Patience.await(initiator.connect(accepting.address()));
                return false;
            } catch (LimitExceededException limit) {
                assertThat(limit)
                        .hasMessageContaining("maxHandshakesPerSecond")
                        .hasCauseInstanceOf(RefusedBeforeTlsException.class);
                return String.valueOf(limit.getMessage()).contains("lane 0");
            } catch (ConnectFailedException late) {
                return false;
            }
        });
    }

    @Test
    void onesThatHoldTheirSocketsOpen() {
        TransferEngine accepting = engine(target, options -> options.maxHalfOpen(4));
        // the first of them were silent while others waited, unless all took so long to come that their time was over
        Patience.until("one gets an answer", () -> firstOfSilent(accepting).length > 0);
        Patience.until("it is counted", () -> accepting.metrics().handshakesRefused(RefusalReason.HALF_OPEN) > 0);
    }

    /** Reads the input of the first of some silent sockets until its end. */
    private byte[] firstOfSilent(TransferEngine accepting) {
        try {
            closeSockets();
            for (int i = 0; i < SILENT; i++) {
                Socket socket = new Socket(
                        accepting.address().host(), accepting.address().port());
                sockets.add(socket);
                socket.setSoTimeout(Math.toIntExact(Patience.BOUND.toMillis()));
            }
            byte[] told = sockets.getFirst().getInputStream().readAllBytes();
            assertThat(told)
                    .satisfiesAnyOf(
                            none -> assertThat(none).isEmpty(),
                            all -> assertThat(all).isEqualTo(RefusedBeforeTlsException.sign()));
            return told;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void signThatComesInPieces() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 4, InetAddress.getByName("127.0.0.1"))) {
            server.setSoTimeout(Math.toIntExact(Patience.BOUND.toMillis()));
            CompletableFuture<Connection> connect =
                    initiator.connect(EngineAddress.of("127.0.0.1", server.getLocalPort()));
            try (Socket socket = server.accept()) {
                socket.setTcpNoDelay(true);
                for (byte each : RefusedBeforeTlsException.sign()) {
                    socket.getOutputStream().write(each);
                    Patience.pause(Duration.ofMillis(5));
                }
                Patience.failure(connect, LimitExceededException.class);
            }
        }
    }

    @Test
    void oneThatIsClosedWithoutAWordIsToldWhatItMayBe() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 4, InetAddress.getByName("127.0.0.1"))) {
            server.setSoTimeout(Math.toIntExact(Patience.BOUND.toMillis()));
            CompletableFuture<Connection> connect =
                    initiator.connect(EngineAddress.of("127.0.0.1", server.getLocalPort()));
            try (Socket socket = server.accept()) {
                socket.setSoTimeout(Math.toIntExact(Patience.BOUND.toMillis()));
                assertThat(socket.getInputStream().read()).isPositive();
                socket.shutdownOutput();
                assertThat(Patience.failure(connect, ConnectFailedException.class))
                        .isNotInstanceOf(LimitExceededException.class)
                        .hasMessageContaining("refused handshakes");
            }
        }
    }
}
