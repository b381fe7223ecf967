package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.LimitExceededException;
import io.sluice.engine.RefusalReason;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.control.MessageType;
import io.sluice.fuzz.Mutation;
import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import io.sluice.testkit.SteadyRounds;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stranger that says anything, or nothing, to a listening engine is ended and counted, and others are served. */
class HostileHandshakesTest {
    private static final byte[] TOKEN = "the token of this test".getBytes(StandardCharsets.UTF_8);
    private static final int HELD = 200;
    /** After that the engine closes a socket by default: three tenths of {@code handshakeTimeout}. */
    private static final Duration SILENCE = Duration.ofSeconds(3);

    private final CapturedLog log = CapturedLog.warnings();
    private final List<Socket> sockets = new ArrayList<>();
    private TransferEngine engine;
    private TransferEngine honest;

    @BeforeEach
    void open() {
        open(options -> {});
    }

    private void open(Consumer<EngineOptions.Builder> change) {
        EngineOptions options = PatientOptions.builder()
                .transports(List.of("tcp"))
                .token(TOKEN)
                .handshakeTimeout(Patience.BOUND)
                .connectTimeout(Patience.BOUND)
                .with(change)
                .build();
        engine = TransferEngine.open(options);
        honest = TransferEngine.open(options.toBuilder().noListener().build());
    }

    private void reopen(Consumer<EngineOptions.Builder> change) {
        closeEngines();
        open(change);
    }

    private void closeEngines() {
        Patience.await(CompletableFuture.allOf(engine.closeAsync(), honest.closeAsync()));
    }

    @AfterEach
    void close() {
        for (Socket socket : sockets) {
            try {
                socket.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        closeEngines();
        log.close();
        log.assertNoErrors();
    }

    private Socket stranger() {
        try {
            Socket socket = new Socket(
                    InetAddress.getLoopbackAddress(), engine.address().port());
            socket.setTcpNoDelay(true);
            sockets.add(socket);
            return socket;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Socket saying(byte[] bytes) {
        Socket socket = stranger();
        try {
            socket.getOutputStream().write(bytes);
        } catch (IOException cutOff) {
            // It did not want to hear the rest.
        }
        return socket;
    }

    private void assertHonestIsServed() {
        Connection connection = Patience.await(honest.connect(engine.address()));
        Patience.await(connection.close());
    }

    private void assertCounted(RefusalReason reason, long count) {
        Patience.until(reason + " is counted", () -> engine.metrics().handshakesRefused(reason) >= count);
        assertThat(engine.metrics().handshakesRefused(reason)).isEqualTo(count);
    }

    private void assertNothingHalfOpen() {
        Patience.until("no socket is half-open", () -> engine.metrics().halfOpen() == 0);
    }

    @Test
    void garbage() {
        Random random = FuzzSeed.of("HostileHandshakesTest").random();
        for (int i = 0; i < 20; i++) {
            byte[] bytes = new byte[8 + random.nextInt(5000)];
            random.nextBytes(bytes);
            bytes[0] = 'G';
            MessageSocket.awaitEnd(saying(bytes));
        }
        assertCounted(RefusalReason.MALFORMED, 20);
        assertNothingHalfOpen();
        assertHonestIsServed();
    }

    @Test
    void messageThatClaimsToBeHuge() {
        MessageSocket.awaitEnd(saying(MessageSocket.header(0x534C, 1, MessageType.HELLO, Integer.MAX_VALUE)));
        assertCounted(RefusalReason.MALFORMED, 1);
        assertHonestIsServed();
    }

    @Test
    void helloThatIsCutShort() throws IOException {
        byte[] hello = MessageSocket.encode(MessageType.HELLO, new byte[100]);
        saying(Arrays.copyOf(hello, 60)).shutdownOutput();
        assertCounted(RefusalReason.MALFORMED, 1);
        assertNothingHalfOpen();
        assertHonestIsServed();
    }

    @Test
    void wrongToken() {
        try (RawPeer peer =
                new RawPeer(engine.address()).token("another token of it".getBytes(StandardCharsets.UTF_8))) {
            peer.hello();
            peer.control().receive(MessageType.WELCOME);
            peer.control()
                    .send(
                            MessageType.AUTHENTICATE,
                            new FieldWriter()
                                    .put(Tag.PROOF, new byte[SessionSecret.PROOF_BYTES])
                                    .put(Tag.OFFER, new byte[6])
                                    .toBytes());
            assertThat(code(peer.control())).isEqualTo(Rejection.AUTHENTICATION);
            peer.control().awaitEnd();
        }
        assertCounted(RefusalReason.AUTHENTICATION, 1);
        assertHonestIsServed();
    }

    private static long code(MessageSocket socket) {
        return new FieldReader(socket.receive(MessageType.REJECT).buffer()).number(Tag.CODE, 0, 255);
    }

    @Test
    void peerThatLeavesWhenItHasSeenTheWelcome() {
        try (RawPeer peer = new RawPeer(engine.address()).token(TOKEN)) {
            peer.hello();
            peer.welcomed();
        }
        assertCounted(RefusalReason.ABANDONED, 1);
        assertNothingHalfOpen();
    }

    /** An attacker replays everything that a peer with the token has sent. */
    @Test
    void recordedHandshake() {
        List<byte[]> recording = new ArrayList<>();
        try (RawPeer peer = new RawPeer(engine.address(), (bytes, to) -> {
                    recording.add(bytes);
                    to.write(bytes);
                })
                .token(TOKEN)) {
            peer.connect();
        }
        int authentication = -1;
        for (int i = 0; i < recording.size(); i++) {
            if (ByteBuffer.wrap(recording.get(i)).get(3) == MessageType.AUTHENTICATE) {
                authentication = i;
            }
        }
        assertThat(authentication).isPositive();
        MessageSocket replay = new MessageSocket(saying(recording.getFirst()), MessageSocket.Delivery.AT_ONCE);
        replay.receive(MessageType.WELCOME);
        replay.sendRaw(recording.get(authentication));
        assertThat(code(replay)).isEqualTo(Rejection.AUTHENTICATION);
        replay.awaitEnd();
        MessageSocket lane =
                new MessageSocket(saying(recording.get(authentication + 1)), MessageSocket.Delivery.AT_ONCE);
        assertThat(code(lane)).isEqualTo(Rejection.AUTHENTICATION);
        lane.awaitEnd();
        assertCounted(RefusalReason.AUTHENTICATION, 2);
        assertHonestIsServed();
    }

    @Test
    void recordedHandshakesWithDamage() {
        List<byte[]> recording = new ArrayList<>();
        try (RawPeer peer = new RawPeer(engine.address(), (bytes, to) -> {
                    recording.add(bytes);
                    to.write(bytes);
                })
                .token(TOKEN)) {
            peer.connect();
        }
        Random random = FuzzSeed.of("HostileHandshakesTest").random(1);
        for (int i = 0; i < 100; i++) {
            Socket socket = saying(Mutation.of(recording.getFirst(), random));
            try {
                socket.shutdownOutput();
            } catch (IOException ended) {
                continue;
            }
            MessageSocket.awaitEnd(socket);
        }
        assertNothingHalfOpen();
        assertHonestIsServed();
    }

    /** Bytes that trickle in gain no time. */
    @Test
    void helloByteByByte() {
        reopen(options -> options.handshakeTimeout(Duration.ofMillis(200)));
        byte[] hello = MessageSocket.encode(MessageType.HELLO, new byte[2000]);
        Socket socket = stranger();
        boolean ended = false;
        for (int i = 0; i < hello.length && !ended; i++) {
            try {
                socket.getOutputStream().write(hello[i]);
            } catch (IOException cutOff) {
                ended = true;
            }
            Patience.pause(Duration.ofMillis(20));
        }
        assertThat(ended).as("it is ended before it has said all").isTrue();
        assertCounted(RefusalReason.TIMEOUT, 1);
        reopen(options -> {});
        assertHonestIsServed();
    }

    @Test
    void twoHundredThatSayNothing() {
        SteadyRounds.run(Duration.ofSeconds(2), timeout -> {
            // for the honest one as well, so it is not as short as can be
            reopen(options -> options.handshakeTimeout(timeout.multipliedBy(10).dividedBy(3)));
            sockets.clear();
            for (int i = 0; i < HELD; i++) {
                stranger();
            }
            // the first may have been given up before the last is accepted
            Patience.until(
                    "they are accepted",
                    () -> engine.metrics().halfOpen() + engine.metrics().handshakesRefused(RefusalReason.TIMEOUT)
                            >= HELD);
            assertHonestIsServed();
            sockets.forEach(MessageSocket::awaitEnd);
            assertCounted(RefusalReason.TIMEOUT, HELD);
            assertNothingHalfOpen();
            assertHonestIsServed();
        });
    }

    @Test
    void moreThanMayBeHalfOpen() {
        SteadyRounds.run(SILENCE, unused -> {
            int limit = 20;
            // they are served in the order of coming, so the honest one waits for those before it
            reopen(options -> options.maxHalfOpen(limit));
            sockets.clear();
            for (int i = 0; i < HELD / 2; i++) {
                stranger();
            }
            CompletableFuture<Connection> waiting = honest.connect(engine.address());
            int most = 0;
            while (!waiting.isDone()) {
                most = Math.max(most, engine.metrics().halfOpen());
                Patience.pause(Duration.ofMillis(1));
            }
            // those that came last are left, also where the honest one was served before it was looked
            most = Math.max(most, engine.metrics().halfOpen());
            assertThat(most).isPositive().isLessThanOrEqualTo(limit);
            Patience.await(waiting);
            assertThat(engine.metrics().handshakesRefused(RefusalReason.HALF_OPEN))
                    .isPositive();
            assertThat(code(new MessageSocket(sockets.getFirst(), MessageSocket.Delivery.AT_ONCE)))
                    .isEqualTo(Rejection.HALF_OPEN);
        });
    }

    @Test
    void moreHandshakesASecondThanAllowed() {
        Patience.until("no socket of a round is closed for its silence", this::refusesThoseBeyondTheRate);
        Patience.until("there is room again", () -> {
            try {
                Patience.await(honest.connect(engine.address()));
                return true;
            } catch (ConnectFailedException stillFull) {
                return false;
            }
        });
    }

    /** False where a busy machine let a socket say nothing for so long that it was closed, and so is not counted. */
    private boolean refusesThoseBeyondTheRate() {
        reopen(options -> options.maxHandshakesPerSecond(2));
        List<CompletableFuture<Connection>> connects = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            connects.add(honest.connect(engine.address()));
        }
        int refused = 0;
        for (CompletableFuture<Connection> connect : connects) {
            try {
                Patience.await(connect);
            } catch (LimitExceededException limit) {
                refused++;
                assertThat(limit).hasMessageContaining("maxHandshakesPerSecond");
            } catch (ConnectFailedException late) {
                return false;
            }
        }
        assertThat(refused).isBetween(1, 18);
        assertCounted(RefusalReason.RATE, refused);
        return true;
    }

    @Test
    void moreConnectionsThanAllowed() {
        reopen(options -> options.maxConnections(1));
        Patience.await(honest.connect(engine.address()));
        TransferEngine other = TransferEngine.open(engine.options().toBuilder().build());
        try {
            Patience.failure(other.connect(engine.address()), LimitExceededException.class);
            assertCounted(RefusalReason.CONNECTIONS, 1);
        } finally {
            Patience.await(other.closeAsync());
        }
    }

    @Test
    void moreConnectionsThanThisSideAllows() {
        TransferEngine full = TransferEngine.open(
                engine.options().toBuilder().maxConnections(1).build());
        try {
            Patience.await(full.connect(engine.address()));
            Patience.failure(full.connect(engine.address()), LimitExceededException.class);
        } finally {
            Patience.await(full.closeAsync());
        }
    }

    @Test
    void lastPlaceThatThisSideTakesWhileItConnects() {
        TransferEngine full = TransferEngine.open(
                engine.options().toBuilder().maxConnections(1).build());
        try {
            // both find the place free
            List<CompletableFuture<Connection>> both =
                    List.of(full.connect(engine.address()), full.connect(engine.address()));
            List<Throwable> errors = new ArrayList<>();
            for (CompletableFuture<Connection> each : both) {
                try {
                    Patience.await(each);
                } catch (SluiceException e) {
                    errors.add(e);
                }
            }
            assertThat(errors).hasSize(1).hasOnlyElementsOfType(LimitExceededException.class);
        } finally {
            Patience.await(full.closeAsync());
        }
    }

    @Test
    void lastPlaceThatAnotherPeerHasTakenSinceTheHello() {
        reopen(options -> options.maxConnections(1));
        try (RawPeer first = new RawPeer(engine.address()).token(TOKEN);
                RawPeer second = new RawPeer(engine.address()).token(TOKEN)) {
            first.hello();
            second.hello();
            first.welcomed();
            second.welcomed();
            first.authenticate();
            first.accepted();
            second.authenticate();
            assertThat(code(second.control())).isEqualTo(Rejection.BUSY);
            second.control().awaitEnd();
        }
        assertCounted(RefusalReason.CONNECTIONS, 1);
    }
}
