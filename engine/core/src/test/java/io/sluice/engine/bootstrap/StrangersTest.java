package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.RefusalReason;
import io.sluice.engine.Token;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.session.DefaultTransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import io.sluice.testkit.SteadyRounds;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Strangers neither keep those out who have a token, nor make the engine allocate memory. */
class StrangersTest {
    private static final byte[] TOKEN = "the token of this test".getBytes(StandardCharsets.UTF_8);
    private static final byte[] OTHER_TOKEN = "the token of other engines".getBytes(StandardCharsets.UTF_8);
    private static final String HONEST = "127.0.0.1";
    private static final String ELSEWHERE = "127.0.0.2";
    private static final int PLACES = 16;
    private static final int SILENT = 200;
    private static final int HELLOS = 200;
    private static final int RATE = 50;

    /** After that the engine closes a socket by default: three tenths of {@code handshakeTimeout}. */
    private static final Duration SILENCE = Duration.ofSeconds(3);

    private final CapturedLog log = CapturedLog.everything();
    private final List<Socket> sockets = new ArrayList<>();
    private TransferEngine target;
    private TransferEngine honest;

    private void open(Consumer<EngineOptions.Builder> change) {
        EngineOptions options = PatientOptions.builder()
                .transports(List.of("tcp"))
                .token(TOKEN)
                .maxHalfOpen(PLACES)
                .handshakeTimeout(Patience.BOUND)
                .connectTimeout(Patience.BOUND)
                .with(change)
                .build();
        target = TransferEngine.open(options);
        honest = TransferEngine.open(options.toBuilder().noListener().build());
    }

    private void reopen() throws IOException {
        closeAll();
        open(options -> {});
    }

    private void closeAll() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        sockets.clear();
        if (target != null) {
            Patience.await(CompletableFuture.allOf(honest.closeAsync(), target.closeAsync()));
        }
    }

    @AfterEach
    void close() throws IOException {
        closeAll();
        log.close();
    }

    private Socket stranger(String from) throws IOException {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(from, 0));
        socket.connect(new InetSocketAddress(HONEST, target.address().port()));
        sockets.add(socket);
        return socket;
    }

    /** A stranger's first message, with the sign of a token unless that is empty. */
    static byte[] hello(byte[] token) {
        byte[] nonce = new byte[NonceSource.BYTES];
        FieldWriter fields = new FieldWriter()
                .put(Tag.ENGINE_ID, new byte[16])
                .put(Tag.EPOCH, 1)
                .put(Tag.NONCE, nonce)
                .put(Tag.TRANSPORTS, "tcp")
                .put(Tag.NOTIFICATION_CREDITS, 16)
                .put(Tag.MAX_NOTIFICATION_BYTES, 1024)
                .put(Tag.LIVENESS_MILLIS, 1000)
                .put(Tag.AUTHENTICATION, 1);
        if (token.length > 0) {
            fields.put(Tag.TOKEN_HINT, TokenHint.of(Token.of(token), nonce));
        }
        return MessageSocket.encode(MessageType.HELLO, fields.toBytes());
    }

    private void assertHonestIsServed(int connects) {
        for (int i = 0; i < connects; i++) {
            Patience.await(Patience.await(honest.connect(target.address())).close());
        }
    }

    private long buffers() {
        return ((DefaultTransferEngine) target).handshakes().buffers().made();
    }

    @Test
    void silentOnesFromElsewhereKeepNoPeerWaiting() throws IOException {
        SteadyRounds.run(SILENCE, unused -> {
            reopen();
            for (int i = 0; i < SILENT; i++) {
                stranger(ELSEWHERE);
            }
            Patience.until("they have their places", () -> target.metrics().halfOpen() >= PLACES / 2);
            assertHonestIsServed(1);
            // in the order of their coming it would be behind nearly all of them
            assertThat(target.metrics().handshakesRefused(RefusalReason.HALF_OPEN))
                    .isLessThan(SILENT / 2);
            assertThat(target.metrics().halfOpen()).isLessThanOrEqualTo(PLACES);
        });
    }

    /** However long the machine takes. The lines of the second that had begun before, and of the one under way, count whole. */
    private static int mostLinesSince(long start) {
        return RefusalLog.LINES * (2 + (int) TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start));
    }

    @Test
    void wrongTokensTakeNothingOfTheRate() throws IOException {
        open(options -> options.maxHandshakesPerSecond(RATE));
        byte[] wrong = hello(OTHER_TOKEN);
        long start = System.nanoTime();
        for (int i = 0; i < HELLOS; i++) {
            Socket stranger = stranger(HONEST);
            stranger.getOutputStream().write(wrong);
            MessageSocket.awaitEnd(stranger);
        }
        assertHonestIsServed(RATE / 2);
        assertThat(target.metrics().handshakesRefused(RefusalReason.RATE)).isZero();
        assertThat(target.metrics().handshakesRefused(RefusalReason.AUTHENTICATION))
                .isEqualTo(HELLOS);
        assertThat(log.lines().stream().filter(line -> line.contains("the token is wrong")))
                .as("a few a second")
                .hasSizeLessThanOrEqualTo(mostLinesSince(start));
    }

    @Test
    void manyHellosFromElsewhereLeaveSomeOfTheRate() throws IOException {
        open(options -> options.maxHandshakesPerSecond(RATE).maxHalfOpen(2 * HELLOS));
        byte[] unmarked = hello(new byte[0]);
        for (int i = 0; i < HELLOS; i++) {
            stranger(ELSEWHERE).getOutputStream().write(unmarked);
        }
        // on a machine that was held up these may have been few a second
        Patience.until("some are refused", () -> {
            try (Socket another = stranger(ELSEWHERE)) {
                another.getOutputStream().write(unmarked);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return target.metrics().handshakesRefused(RefusalReason.RATE) > 0;
        });
        assertHonestIsServed(RATE / 10);
    }

    @Test
    void memoryDoesNotGrowWithTheirNumber() throws IOException {
        SteadyRounds.run(SILENCE, unused -> {
            reopen();
            byte[] header = MessageSocket.header(0x534C, 1, MessageType.HELLO, 32 * 1024);
            for (int i = 0; i < SILENT; i++) {
                stranger(ELSEWHERE);
            }
            Patience.until("they have their places", () -> target.metrics().halfOpen() >= PLACES / 2);
            assertThat(buffers())
                    .as("of silent ones")
                    .isLessThanOrEqualTo(target.options().pollers());
            for (Socket silent : sockets) {
                silent.getOutputStream().write(header);
            }
            for (Socket socket : sockets) {
                socket.shutdownOutput();
                MessageSocket.awaitEnd(socket);
            }
            assertThat(buffers())
                    .as("of those that say so much")
                    .isLessThanOrEqualTo(PLACES + target.options().pollers());
            long before = buffers();
            for (int i = 0; i < HELLOS; i++) {
                Socket stranger = stranger(ELSEWHERE);
                stranger.getOutputStream().write(header);
                stranger.close();
            }
            Patience.until("they are gone", () -> target.metrics().halfOpen() == 0);
            assertThat(buffers())
                    .isLessThanOrEqualTo(
                            Math.max(before, PLACES + target.options().pollers()));
            assertHonestIsServed(1);
        });
    }

    @Test
    void onlyWhoHasProvedItselfCausesALineOnItsTransport() throws IOException {
        open(options -> options.transports(List.of("shm", "tcp")));
        byte[] unmarked = hello(new byte[0]);
        for (int i = 0; i < PLACES; i++) {
            Socket stranger = stranger(ELSEWHERE);
            stranger.getOutputStream().write(unmarked);
            new MessageSocket(stranger, MessageSocket.Delivery.AT_ONCE).receive(MessageType.WELCOME);
            stranger.close();
        }
        assertThat(log.lines()).noneMatch(line -> line.contains("shm is not offered"));
        try (RawPeer peer = new RawPeer(target.address()).token(TOKEN)) {
            peer.connect();
        }
        assertThat(log.lines())
                .filteredOn(line -> line.startsWith("INFO") && line.contains("shm is not offered"))
                .hasSize(1);
    }

    @Test
    void tokensThatAreNotToBeHadAreLoggedAFewTimesASecond() throws IOException {
        AtomicBoolean failing = new AtomicBoolean();
        open(options -> options.tokens(() -> {
            if (failing.get()) {
                throw new IllegalStateException("the vault is closed by the test");
            }
            return List.of(Token.of(TOKEN));
        }));
        failing.set(true);
        byte[] unmarked = hello(new byte[0]);
        long start = System.nanoTime();
        for (int i = 0; i < HELLOS; i++) {
            Socket stranger = stranger(HONEST);
            stranger.getOutputStream().write(unmarked);
            MessageSocket.awaitEnd(stranger);
        }
        assertThat(target.metrics().handshakesRefused(RefusalReason.AUTHENTICATION))
                .isEqualTo(HELLOS);
        assertThat(log.lines())
                .filteredOn(line -> line.contains("the tokens are not available"))
                .isNotEmpty()
                .hasSizeLessThanOrEqualTo(mostLinesSince(start));
    }

    @Test
    void moreThanMayWait() throws IOException {
        open(options -> options.handshakeTimeout(Duration.ofHours(1)));
        byte[] wrong = hello(OTHER_TOKEN);
        for (int i = 0; i < 1200; i++) {
            stranger(ELSEWHERE);
        }
        Socket told = stranger(ELSEWHERE);
        told.getOutputStream().write(wrong);
        assertHonestIsServed(1);
        MessageSocket.Message answer = new MessageSocket(told, MessageSocket.Delivery.AT_ONCE).receive();
        assertThat(answer.type()).isEqualTo(MessageType.REJECT);
    }
}
