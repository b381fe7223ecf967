package io.sluice.engine.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Access;
import io.sluice.engine.AllowedPeers;
import io.sluice.engine.AuthenticationException;
import io.sluice.engine.CapturedLog;
import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Filling;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PeerAuthorizer;
import io.sluice.engine.PeerIdentity;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TlsOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import io.sluice.testkit.SteadyRounds;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Both sides of a connection show a certificate that the other trusts, or there is none. */
@Tag("filler")
class TlsTest {
    private static final byte[] TOKEN = "correct horse battery staple".getBytes(StandardCharsets.US_ASCII);

    @TempDir
    private Path folder;

    private final CapturedLog log = CapturedLog.everything();
    private final List<TransferEngine> engines = new ArrayList<>();
    private TestAuthority authority;
    private TlsFiles target;
    private TlsFiles initiator;

    @BeforeEach
    void makeCertificates() {
        authority = new TestAuthority(folder, "authority");
        target = authority.issue("CN=target,O=Example");
        initiator = authority.issue("CN=initiator,O=Example");
    }

    @AfterEach
    void close() {
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
        log.close();
        log.assertNoErrors();
        for (TlsFiles files : List.of(target, initiator)) {
            String secret = files.keyText().lines().skip(1).findFirst().orElseThrow();
            assertThat(log.lines()).noneMatch(line -> line.contains(secret));
        }
    }

    private TransferEngine engine(@Nullable TlsOptions tls) {
        return engine(tls, options -> {});
    }

    private TransferEngine engine(@Nullable TlsOptions tls, Consumer<EngineOptions.Builder> more) {
        EngineOptions.Builder options = PatientOptions.builder().transports(List.of("tcp"));
        if (tls != null) {
            options.tls(tls);
        }
        TransferEngine engine = TransferEngine.open(options.with(more).build());
        engines.add(engine);
        return engine;
    }

    private static void move(TransferEngine from, Connection connection, TransferEngine to, int bytes) {
        MemoryRegion served = to.allocate(bytes, RegionOptions.readWrite());
        MemoryRegion local = from.allocate(bytes, RegionOptions.local());
        MemoryRegion back = from.allocate(bytes, RegionOptions.local());
        Filling.fill(local.segment(), 7);
        RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
        CompletableFuture<@Nullable SluiceException> written = new CompletableFuture<>();
        connection.write(
                local, 0, remote, 0, bytes, TransferOptions.defaults(), (transfer, error) -> written.complete(error));
        assertThat(Patience.await(written)).isNull();
        CompletableFuture<@Nullable SluiceException> read = new CompletableFuture<>();
        connection.read(
                back, 0, remote, 0, bytes, TransferOptions.defaults(), (transfer, error) -> read.complete(error));
        assertThat(Patience.await(read)).isNull();
        Filling.assertFilled(served.segment(), 7, 0, bytes);
        Filling.assertFilled(back.segment(), 7, 0, bytes);
    }

    private static AuthenticationException refused(TransferEngine from, EngineAddress to) {
        AuthenticationException error = Patience.failure(from.connect(to), AuthenticationException.class);
        assertThat(from.connections()).isEmpty();
        return error;
    }

    /** The connection of a pair that trusts each other still works. */
    private void assertServed(TransferEngine to) {
        TransferEngine other = engine(initiator.options());
        move(other, Patience.await(other.connect(to.address())), to, 5000);
    }

    // ---- what connects ----

    @Test
    void bothShowACertificate() {
        LinkedBlockingQueue<PeerIdentity> seen = new LinkedBlockingQueue<>();
        TransferEngine accepting = engine(target.options(), options -> options.authorizer(noting(seen)));
        TransferEngine connecting = engine(initiator.options(), options -> options.authorizer(noting(seen)));
        Connection connection = Patience.await(connecting.connect(accepting.address()));
        move(connecting, connection, accepting, 3_000_001);
        assertThat(seen)
                .extracting(PeerIdentity::certificateSubject)
                .containsExactlyInAnyOrder("CN=target,O=Example", "CN=initiator,O=Example");
        assertThat(seen).allSatisfy(peer -> assertThat(peer.certificateNames()).contains("localhost", "127.0.0.1"));
        assertThat(accepting.options().toString() + initiator.options()).doesNotContain("PRIVATE");
    }

    private static PeerAuthorizer noting(LinkedBlockingQueue<PeerIdentity> seen) {
        return new PeerAuthorizer() {
            @Override
            public boolean mayConnect(PeerIdentity peer) {
                return seen.add(peer);
            }

            @Override
            public Set<Access> access(PeerIdentity peer, @Nullable String region) {
                return Set.of(Access.values());
            }
        };
    }

    @Test
    void keyStores() throws Exception {
        TransferEngine accepting = engine(TlsOptions.keyStore(target.store(), TlsFiles.PASSWORD.toCharArray()));
        assertServed(accepting);
        TlsOptions wrong = TlsOptions.keyStore(target.store(), "another password".toCharArray());
        assertThatThrownBy(() -> engine(wrong))
                .isInstanceOf(SluiceException.class)
                .hasMessageContaining("key store")
                .hasMessageNotContaining("another");
        assertThat(wrong.toString()).doesNotContain("another");
        Files.setPosixFilePermissions(target.store(), PosixFilePermissions.fromString("rw-r--r--"));
        assertThatThrownBy(() -> engine(TlsOptions.keyStore(target.store(), new char[0])))
                .hasMessageContaining("chmod");
    }

    @Test
    void filesThatDoNotFitTogether() throws Exception {
        TlsFiles mixed = new TlsFiles(target.certificate(), initiator.key(), target.trusted());
        assertThatThrownBy(() -> engine(mixed.options())).hasMessageContaining("key of another certificate");
        TlsFiles swapped = new TlsFiles(target.key(), target.certificate(), target.trusted());
        assertThatThrownBy(() -> engine(swapped.options())).isInstanceOf(SluiceException.class);
        Files.setPosixFilePermissions(target.key(), PosixFilePermissions.fromString("rw-r--r--"));
        assertThatThrownBy(() -> engine(target.options())).hasMessageContaining("chmod");
        Files.setPosixFilePermissions(target.key(), PosixFilePermissions.fromString("r--------"));
        TlsFiles none = new TlsFiles(target.certificate(), folder.resolve("none"), target.trusted());
        assertThatThrownBy(() -> engine(none.options())).hasMessageContaining("none");
    }

    @Test
    void keysOfOtherKinds() {
        for (String algorithm : List.of("RSA", "Ed25519")) {
            TlsFiles other = authority.issue(
                    TestAuthority.Request.local("CN=" + algorithm).key(algorithm));
            TransferEngine accepting = engine(other.options());
            assertServed(accepting);
        }
    }

    @Test
    void tokenAndCertificateMustBothHold() {
        TransferEngine accepting = engine(target.options(), options -> options.token(TOKEN));
        TransferEngine both = engine(initiator.options(), options -> options.token(TOKEN));
        move(both, Patience.await(both.connect(accepting.address())), accepting, 100);
        refused(engine(initiator.options()), accepting.address());
        refused(engine(initiator.options(), options -> options.token(new byte[16])), accepting.address());
        refused(engine(null, options -> options.token(TOKEN)), accepting.address());
        assertThat(accepting.connections()).hasSize(1);
    }

    @Test
    void certificatesSufficeBeyondLoopback() {
        engine(target.options(), options -> options.listen("0.0.0.0", 0));
    }

    // ---- what does not ----

    @Test
    void certificatesOfAnotherAuthority() {
        TransferEngine accepting = engine(target.options());
        TestAuthority other = new TestAuthority(folder, "other");
        // it does not trust the target
        refused(engine(other.issue("CN=stranger").options()), accepting.address());
        // it does, but the target does not trust it
        refused(engine(other.issue("CN=stranger").trust(authority).options()), accepting.address());
        Patience.until("there is no connection", () -> accepting.connections().isEmpty());
        assertServed(accepting);
    }

    @Test
    void expiredCertificates() {
        TlsFiles late = authority.issue(TestAuthority.Request.local("CN=late").expired());
        TransferEngine accepting = engine(target.options());
        refused(engine(late.options()), accepting.address());
        refused(engine(initiator.options()), engine(late.options()).address());
    }

    @Test
    void certificateForAnotherHost() {
        TlsFiles elsewhere =
                authority.issue(TestAuthority.Request.local("CN=elsewhere").host("elsewhere.example"));
        TransferEngine accepting = engine(elsewhere.options());
        refused(engine(initiator.options()), accepting.address());
        TransferEngine trusting = engine(initiator.options().verifyHost(false));
        move(trusting, Patience.await(trusting.connect(accepting.address())), accepting, 100);
        // the connecting side's own names do not matter
        TransferEngine strict = engine(target.options());
        TransferEngine from = engine(elsewhere.options());
        Patience.await(from.connect(strict.address()));
    }

    private SSLContext trustingWithoutACertificate(String protocol) throws Exception {
        KeyStore anchors = KeyStore.getInstance("PKCS12");
        anchors.load(null, null);
        anchors.setCertificateEntry("authority", authority.certificate());
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(anchors);
        SSLContext context = SSLContext.getInstance(protocol);
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    @Test
    void initiatorWithoutACertificate() throws Exception {
        TransferEngine accepting = engine(target.options());
        SSLContext none = trustingWithoutACertificate("TLSv1.3");
        refused(engine(TlsOptions.of(() -> none)), accepting.address());
        Patience.until("there is no connection", () -> accepting.connections().isEmpty());
    }

    @Test
    void olderTls() throws Exception {
        TransferEngine accepting = engine(target.options());
        SSLContext context = initiator.options().context();
        try (SSLSocket socket = (SSLSocket) context.getSocketFactory()
                .createSocket(
                        InetAddress.getLoopbackAddress(), accepting.address().port())) {
            socket.setSoTimeout(Math.toIntExact(Patience.BOUND.toMillis()));
            socket.setEnabledProtocols(new String[] {"TLSv1.2"});
            assertThatThrownBy(socket::startHandshake).isInstanceOf(IOException.class);
        }
        assertServed(accepting);
    }

    @Test
    void plainAgainstTls() {
        TransferEngine secured = engine(target.options());
        TransferEngine plain = engine(null);
        assertThat(refused(plain, secured.address())).hasMessageContaining("TLS");
        assertThat(refused(secured, plain.address())).hasMessageContaining("TLS");
        assertThat(plain.connections()).isEmpty();
        assertThat(secured.connections()).isEmpty();
        assertServed(secured);
    }

    // ---- who does not keep to it ----

    private static boolean ends(Socket socket) throws IOException {
        socket.setSoTimeout(Math.toIntExact(Patience.BOUND.toMillis()));
        try {
            while (socket.getInputStream().read() >= 0) {
                // what it says last
            }
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException reset) {
            return true;
        }
    }

    @Test
    void handshakesHeldOpenAreBounded() throws Exception {
        SteadyRounds.run(Duration.ofSeconds(2), timeout -> {
            // for the honest one as well, so it is not as short as can be
            TransferEngine accepting = engine(
                    target.options(),
                    options -> options.handshakeTimeout(timeout.multipliedBy(10).dividedBy(3)));
            List<Socket> held = new ArrayList<>();
            try {
                byte[] cut = {22, 3, 1, 2, 0, 1, 0, 1};
                for (int i = 0; i < 32; i++) {
                    Socket socket = new Socket(
                            InetAddress.getLoopbackAddress(),
                            accepting.address().port());
                    held.add(socket);
                    socket.getOutputStream().write(cut, 0, 1 + i % cut.length);
                }
                assertServed(accepting);
                for (Socket socket : held) {
                    assertThat(ends(socket)).isTrue();
                }
            } finally {
                for (Socket socket : held) {
                    socket.close();
                }
            }
        });
    }

    @Test
    void acceptorThatNeverAnswersIsGivenUp() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            TransferEngine connecting =
                    engine(initiator.options(), options -> options.connectTimeout(Duration.ofMillis(500)));
            Patience.failure(
                    connecting.connect(EngineAddress.of("127.0.0.1", silent.getLocalPort())),
                    ConnectFailedException.class);
        }
    }

    @Test
    void garbageForATlsHandshake() throws Exception {
        // the engine waits for the rest of the record, as long as a peer may be silent
        TransferEngine accepting =
                engine(target.options(), options -> options.handshakeTimeout(Patience.scaled(Duration.ofSeconds(5))));
        byte[] garbage = new byte[4096];
        for (int i = 0; i < garbage.length; i++) {
            garbage[i] = (byte) (i * 31);
        }
        garbage[0] = 22;
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), accepting.address().port())) {
            socket.getOutputStream().write(garbage);
            assertThat(ends(socket)).isTrue();
        }
        assertServed(accepting);
    }

    @Test
    void garbageWithinTls() throws Exception {
        TransferEngine accepting = engine(target.options());
        SSLContext context = initiator.options().context();
        try (SSLSocket socket = (SSLSocket) context.getSocketFactory()
                .createSocket(
                        InetAddress.getLoopbackAddress(), accepting.address().port())) {
            socket.startHandshake();
            // of one record: it may be cut off after that
            socket.getOutputStream().write(new byte[10_000]);
            assertThat(ends(socket)).isTrue();
        }
        assertServed(accepting);
    }

    // ---- on the wire ----

    private static int occurrences(List<byte[]> streams, byte[] pattern) {
        int count = 0;
        for (byte[] stream : streams) {
            count += new String(stream, StandardCharsets.ISO_8859_1)
                            .split(Pattern.quote(new String(pattern, StandardCharsets.ISO_8859_1)), -1)
                            .length
                    - 1;
        }
        return count;
    }

    private int patternsSeen(TlsOptions accepting, TlsOptions connecting) throws Exception {
        byte[] pattern = "these bytes are easy to recognise".getBytes(StandardCharsets.US_ASCII);
        TransferEngine to = engine(accepting);
        TransferEngine from = engine(connecting);
        try (WireTap tap = new WireTap(to.address().port())) {
            Connection connection = Patience.await(from.connect(EngineAddress.of("127.0.0.1", tap.port())));
            MemoryRegion served = to.allocate(100_000, RegionOptions.readWrite());
            MemoryRegion local = from.allocate(100_000, RegionOptions.local());
            for (int at = 0; at + pattern.length < 100_000; at += 1000) {
                MemorySegment.copy(pattern, 0, local.segment(), ValueLayout.JAVA_BYTE, at, pattern.length);
            }
            RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
            for (int round = 0; round < 2; round++) {
                CompletableFuture<@Nullable SluiceException> ended = new CompletableFuture<>();
                if (round == 0) {
                    connection.write(
                            local,
                            0,
                            remote,
                            0,
                            100_000,
                            TransferOptions.defaults(),
                            (t, error) -> ended.complete(error));
                } else {
                    connection.read(
                            local,
                            0,
                            remote,
                            0,
                            100_000,
                            TransferOptions.defaults(),
                            (t, error) -> ended.complete(error));
                }
                assertThat(Patience.await(ended)).isNull();
            }
            // of both certificates, and too long to come about among encrypted bytes
            assertThat(occurrences(tap.seen(), "Example".getBytes(StandardCharsets.US_ASCII)))
                    .isZero();
            Patience.await(connection.close());
            return occurrences(tap.seen(), pattern);
        }
    }

    @Test
    void dataIsEncryptedIfEitherSideAsksForIt() throws Exception {
        assertThat(patternsSeen(target.options(), initiator.options())).isEqualTo(200);
        assertThat(patternsSeen(target.options().data(true), initiator.options()))
                .isZero();
        assertThat(patternsSeen(target.options(), initiator.options().data(true)))
                .isZero();
    }

    // ---- rotation ----

    @Test
    void certificatesAreRotatedWhileConnectionsLive() {
        TestAuthority next = new TestAuthority(folder, "next");
        TransferEngine accepting = engine(target.options().data(true));
        TransferEngine connecting = engine(initiator.options());
        Connection first = Patience.await(connecting.connect(accepting.address()));
        // both trust the next authority, then both have its certificates, then the target trusts no other
        target.trust(authority, next);
        initiator.trust(authority, next);
        TlsFiles late = authority.issue("CN=late").trust(authority, next);
        TransferEngine old = engine(late.options());
        target.become(next.issue("CN=target,O=Next"));
        initiator.become(next.issue("CN=initiator,O=Next"));
        // the two trust the old authority as well, so only a peer that does not sees which certificate they show
        TransferEngine witness =
                engine(next.issue("CN=witness,O=Next").trust(next).options());
        Patience.until(
                "the new certificates count", () -> connects(witness, accepting) && connects(witness, connecting));
        target.trust(next);
        Patience.until("the old certificates count no more", () -> !connects(old, accepting));
        assertThat(connects(connecting, accepting)).isTrue();
        assertThat(first.state()).isEqualTo(ConnectionState.OPEN);
        move(connecting, first, accepting, 500_000);
    }

    private static boolean connects(TransferEngine from, TransferEngine to) {
        try {
            Patience.await(Patience.await(from.connect(to.address())).close());
            return true;
        } catch (AuthenticationException | ConnectFailedException e) {
            // the files may be read again between the control channel's handshake and a lane's
            return false;
        }
    }

    // ---- authorisation ----

    @Test
    void subjectsAndNamesOfCertificatesDecide() {
        TransferEngine accepting = engine(
                target.options(),
                options -> options.authorizer(AllowedPeers.none()
                        .regions("CN=initiator,*", "kv/*", Access.REMOTE_READ)
                        .connections("*.guests.example")));
        accepting.allocate(64, RegionOptions.readWrite().named("kv/pool"));
        TransferEngine known = engine(initiator.options());
        Connection connection = Patience.await(known.connect(accepting.address()));
        assertThat(Patience.await(connection.lookup("kv/pool")).access()).containsExactly(Access.REMOTE_READ);
        TransferEngine guest = engine(authority
                .issue(TestAuthority.Request.local("CN=guest").host("a.guests.example"))
                .options());
        Connection visiting = Patience.await(guest.connect(accepting.address()));
        Patience.failure(visiting.lookup("kv/pool"), RemoteAccessException.class);
        assertThat(refused(engine(authority.issue("CN=stranger").options()), accepting.address()))
                .hasMessageContaining("CN=stranger");
    }
}
