package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.AuthenticationException;
import io.sluice.engine.CapturedLog;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Filling;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.control.MessageType;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A peer without the token is refused, and no message or log reveals the token. */
class AuthenticationTest {
    private static final byte[] TOKEN = "correct horse battery staple".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] OTHER = "incorrect horse battery staple".getBytes(StandardCharsets.US_ASCII);

    private final CapturedLog log = CapturedLog.everything();
    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<Throwable> errors = new ArrayList<>();

    @AfterEach
    void nothingGivesTheTokenAway() {
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
        log.close();
        log.assertNoErrors();
        for (String said : said()) {
            assertThat(said).doesNotContain(secretForms());
        }
    }

    private List<String> said() {
        List<String> said = new ArrayList<>(log.lines());
        for (TransferEngine engine : engines) {
            said.add(engine.toString());
            said.add(engine.options().toString());
            said.add(engine.address().toString());
            engine.connections().forEach(connection -> said.add(connection.toString()));
        }
        for (Throwable error : errors) {
            for (Throwable at = error; at != null; at = at.getCause()) {
                said.add(at.toString());
            }
        }
        return said;
    }

    private static String[] secretForms() {
        List<String> forms = new ArrayList<>();
        for (byte[] secret : List.of(TOKEN, OTHER)) {
            forms.add(new String(secret, StandardCharsets.US_ASCII));
            forms.add(HexFormat.of().formatHex(secret));
            forms.add(HexFormat.of().withUpperCase().formatHex(secret));
            forms.add(Base64.getEncoder().withoutPadding().encodeToString(secret));
            forms.add(Arrays.toString(secret));
        }
        return forms.toArray(String[]::new);
    }

    private TransferEngine engine(byte @Nullable [] token) {
        // raw peers send no signs of life
        EngineOptions.Builder options = PatientOptions.builder()
                .transports(List.of("tcp"))
                .connectTimeout(Patience.BOUND)
                .handshakeTimeout(Patience.BOUND)
                .livenessTimeout(Duration.ofHours(1));
        if (token != null) {
            options.token(token);
        }
        TransferEngine engine = TransferEngine.open(options.build());
        engines.add(engine);
        return engine;
    }

    private AuthenticationException refused(TransferEngine from, EngineAddress to) {
        AuthenticationException error = Patience.failure(from.connect(to), AuthenticationException.class);
        errors.add(error);
        assertThat(from.connections()).isEmpty();
        return error;
    }

    // ---- engines ----

    @Test
    void sameTokenConnects() {
        TransferEngine target = engine(TOKEN);
        TransferEngine initiator = engine(TOKEN.clone());
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion served = target.allocate(100, RegionOptions.readWrite());
        Filling.fill(served.segment(), 6);
        RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
        MemoryRegion local = initiator.allocate(100, RegionOptions.local());
        CompletableFuture<@Nullable SluiceException> read = new CompletableFuture<>();
        connection.read(
                local, 0, remote, 0, 100, TransferOptions.defaults(), (transfer, error) -> read.complete(error));
        assertThat(Patience.await(read)).isNull();
        Filling.assertFilled(local.segment(), 6, 0, 100);
        assertThat(connection.toString()).contains(target.id().toString());
    }

    @Test
    void wrongToken() {
        TransferEngine target = engine(TOKEN);
        refused(engine(OTHER), target.address());
        assertThat(target.connections()).isEmpty();
    }

    @Test
    void tokenThatIsACutOfTheRightOne() {
        TransferEngine target = engine(TOKEN);
        refused(engine(Arrays.copyOf(TOKEN, TOKEN.length - 1)), target.address());
    }

    @Test
    void tokenThatIsTheRightOneAndAZero() {
        // HMAC pads its key with zeroes, so these two are one key unless the length goes into it.
        TransferEngine target = engine(TOKEN);
        refused(engine(Arrays.copyOf(TOKEN, TOKEN.length + 1)), target.address());
    }

    @Test
    void initiatorWithoutAToken() {
        TransferEngine target = engine(TOKEN);
        assertThat(refused(engine(null), target.address())).hasMessageContaining("token");
        assertThat(target.connections()).isEmpty();
    }

    @Test
    void targetWithoutAToken() {
        TransferEngine target = engine(null);
        assertThat(refused(engine(TOKEN), target.address())).hasMessageContaining("token");
        assertThat(target.connections()).isEmpty();
    }

    // ---- raw peers ----

    private void assertRejected(RawPeer peer) {
        MessageSocket.Message answer = peer.control().receive(MessageType.REJECT);
        SluiceException reason =
                Rejection.read(answer.buffer(), engines.getFirst().address());
        errors.add(reason);
        assertThat(reason).isInstanceOf(AuthenticationException.class);
        peer.control().awaitEnd();
    }

    @Test
    void rawPeerThatKnowsTheTokenGetsIn() {
        TransferEngine target = engine(TOKEN);
        try (RawPeer peer = new RawPeer(target.address()).token(TOKEN)) {
            peer.connect();
            assertThat(peer.in(target).peer()).isEqualTo(peer.id());
        }
    }

    @Test
    void authenticationOfAnEarlierSessionIsRefused() {
        TransferEngine target = engine(TOKEN);
        byte[] hello;
        byte[] recorded;
        try (RawPeer earlier = new RawPeer(target.address()).token(TOKEN)) {
            hello = earlier.helloFields().toBytes();
            earlier.hello(hello);
            earlier.welcomed();
            recorded = earlier.authentication();
            earlier.control().send(MessageType.AUTHENTICATE, recorded);
            earlier.accepted();
        }
        try (RawPeer replay = new RawPeer(target.address())) {
            replay.hello(hello);
            replay.control().receive(MessageType.WELCOME);
            replay.control().send(MessageType.AUTHENTICATE, recorded);
            assertRejected(replay);
        }
        assertThat(target.connections()).isEmpty();
    }

    @Test
    void proofOfTheOtherSideIsRefused() {
        // A peer that sends the acceptor's own proof back proves nothing.
        TransferEngine target = engine(TOKEN);
        try (RawPeer mirror = new RawPeer(target.address()).token(TOKEN)) {
            mirror.hello();
            MessageSocket.Message welcome = mirror.control().receive(MessageType.WELCOME);
            byte[] proof = new FieldReader(welcome.buffer()).bytes(Tag.PROOF);
            mirror.control()
                    .send(
                            MessageType.AUTHENTICATE,
                            new FieldWriter()
                                    .put(Tag.PROOF, proof)
                                    .put(Tag.OFFER, new byte[6])
                                    .toBytes());
            assertRejected(mirror);
        }
    }

    @Test
    void claimingToNeedNoTokenIsRefused() {
        TransferEngine target = engine(TOKEN);
        try (RawPeer peer = new RawPeer(target.address())) {
            peer.hello();
            assertRejected(peer);
        }
    }

    @Test
    void authenticationBeforeHelloIsRefused() {
        TransferEngine target = engine(TOKEN);
        try (RawPeer peer = new RawPeer(target.address())) {
            peer.control()
                    .send(
                            MessageType.AUTHENTICATE,
                            new FieldWriter()
                                    .put(Tag.PROOF, new byte[32])
                                    .put(Tag.OFFER, new byte[6])
                                    .toBytes());
            peer.control().receive(MessageType.REJECT);
            peer.control().awaitEnd();
        }
    }

    @Test
    void controlMessagesBeforeAuthenticationAreRefused() {
        TransferEngine target = engine(TOKEN);
        target.allocate(64, RegionOptions.readWrite().named("named"));
        for (int type = MessageType.HEARTBEAT; type <= MessageType.GOODBYE; type++) {
            try (RawPeer peer = new RawPeer(target.address()).token(TOKEN)) {
                peer.hello();
                peer.welcomed();
                peer.control().send(type, new byte[16]);
                peer.control().receive(MessageType.REJECT);
                peer.control().awaitEnd();
            }
        }
    }

    @Test
    void engineThatReplaysAWelcomeIsNotBelieved() throws Exception {
        TransferEngine genuine = engine(TOKEN);
        byte[] welcome;
        try (RawPeer earlier = new RawPeer(genuine.address()).token(TOKEN)) {
            earlier.hello();
            welcome = earlier.control().receive(MessageType.WELCOME).body();
        }
        try (ServerSocket impostor = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            impostor.setSoTimeout(Math.toIntExact(Patience.BOUND.toMillis()));
            CompletableFuture<Connection> connecting =
                    engine(TOKEN).connect(EngineAddress.of("127.0.0.1", impostor.getLocalPort()));
            try (MessageSocket socket = new MessageSocket(impostor.accept(), MessageSocket.Delivery.AT_ONCE)) {
                socket.receive(MessageType.HELLO);
                socket.send(MessageType.WELCOME, welcome);
                errors.add(Patience.failure(connecting, AuthenticationException.class));
                // It has not proved anything to the impostor either.
                socket.awaitEnd();
            }
        }
    }

    // ---- lanes ----

    private static void assertLaneRefused(TransferEngine target, byte[] claim) throws Exception {
        try (MessageSocket lane = new MessageSocket(
                new Socket(target.address().host(), target.address().port()), MessageSocket.Delivery.AT_ONCE)) {
            lane.send(MessageType.LANE, claim);
            lane.receive(MessageType.REJECT);
            lane.awaitEnd();
        }
    }

    private static byte[] laneClaim(byte[] connectionId, int index, byte[] proof) {
        return new FieldWriter()
                .put(Tag.CONNECTION_ID, connectionId)
                .put(Tag.LANE_INDEX, index)
                .put(Tag.PROOF, proof)
                .toBytes();
    }

    @Test
    void laneOfAnUnknownConnectionOrWithAWrongProof() throws Exception {
        TransferEngine target = engine(TOKEN);
        try (RawPeer peer = new RawPeer(target.address()).token(TOKEN);
                RawPeer other = new RawPeer(target.address()).token(TOKEN)) {
            peer.hello();
            peer.welcomed();
            byte[] id = peer.connectionId();
            // Not authenticated yet: the connection is none.
            assertLaneRefused(target, peer.laneClaim(0));
            peer.authenticate();
            peer.accepted();
            other.connect();
            byte[] right = peer.secret().laneProof(id, 0);
            byte[] flipped = right.clone();
            flipped[31] ^= 1;
            assertLaneRefused(target, laneClaim(id, 0, flipped));
            assertLaneRefused(target, laneClaim(id, 0, new byte[32]));
            assertLaneRefused(target, laneClaim(id, 1, right));
            assertLaneRefused(target, laneClaim(id, 0, other.secret().laneProof(id, 0)));
            assertLaneRefused(target, laneClaim(other.connectionId(), 0, right));
            assertLaneRefused(target, laneClaim(new byte[16], 0, right));
            assertLaneRefused(target, laneClaim(id, 0, new byte[31]));
            assertLaneRefused(target, laneClaim(new byte[15], 0, right));
            assertLaneRefused(target, laneClaim(id, 256, right));
            assertLaneRefused(target, new byte[0]);
            Patience.until("the other's is there", () -> target.connections().size() == 1);
            // After all of this the right claim still counts, and counts once.
            peer.openLane(0);
            peer.ready();
            peer.in(target);
            MessageSocket.awaitEnd(peer.openLane(0));
            MessageSocket.awaitEnd(peer.openLane(1));
            Patience.until("both are there", () -> target.connections().size() == 2);
        }
        Patience.until("both are gone", () -> target.connections().isEmpty());
    }

    @Test
    void laneOfAConnectionThatHasEnded() throws Exception {
        TransferEngine target = engine(TOKEN);
        byte[] claim;
        try (RawPeer peer = new RawPeer(target.address()).token(TOKEN)) {
            peer.connect();
            peer.in(target);
            claim = peer.laneClaim(0);
        }
        Patience.until("it is gone", () -> target.connections().isEmpty());
        assertLaneRefused(target, claim);
    }

    // ---- listening ----

    @Test
    void listeningBeyondLoopbackNeedsATokenOrAWord() {
        EngineOptions.Builder everywhere =
                PatientOptions.builder().transports(List.of("tcp")).listen("0.0.0.0", 0);
        assertThatThrownBy(() -> TransferEngine.open(everywhere.build()))
                .isInstanceOf(SluiceException.class)
                .hasMessageContaining("0.0.0.0")
                .hasMessageContaining("SLUICE_TOKEN")
                .hasMessageContaining("127.0.0.1")
                .hasMessageContaining("SLUICE_ALLOW_UNAUTHENTICATED_PEERS");
        TransferEngine.open(everywhere.token(TOKEN).build()).close();
        TransferEngine.open(PatientOptions.builder()
                        .transports(List.of("tcp"))
                        .listen("0.0.0.0", 0)
                        .allowUnauthenticatedPeers(true)
                        .build())
                .close();
        assertThatThrownBy(() -> TransferEngine.open(PatientOptions.builder()
                        .transports(List.of("tcp"))
                        .listen("::", 0)
                        .build()))
                .isInstanceOf(SluiceException.class);
    }

    @Test
    void refusedListeningLeavesNothingOpen() {
        EngineOptions everywhere = PatientOptions.builder()
                .transports(List.of("tcp"))
                .listen("0.0.0.0", 0)
                .build();
        assertThatThrownBy(() -> TransferEngine.open(everywhere)).isInstanceOf(SluiceException.class);
        int before = OpenDescriptors.count();
        for (int i = 0; i < 5; i++) {
            assertThatThrownBy(() -> TransferEngine.open(everywhere)).isInstanceOf(SluiceException.class);
        }
        OpenDescriptors.assertSettleAt(before);
    }
}
