package io.sluice.engine.bootstrap;

import io.sluice.engine.EngineId;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Integrity;
import io.sluice.engine.LoopGroup;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RefusalReason;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TlsOptions;
import io.sluice.engine.Token;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.control.PendingSocket;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.security.TlsPeer;
import io.sluice.engine.security.TlsStream;
import io.sluice.engine.transport.Deadline;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * The accepting side of an unidentified socket: it becomes a control channel (HELLO) or a lane (LANE), or is closed
 * within the handshake time-out. Until the peer has authenticated, it uses borrowed memory.
 */
final class IncomingBootstrap extends Deadline implements FramedSocket.Handler, Handshakes.HalfOpen, PendingSocket {
    // of the time for all of it, how much there is until the first message: 3 s of 10
    private static final double SILENT_SHARE = 0.3;
    private static final int MAX_BODY = 32 * 1024;
    // as many as the numbers of lanes have room for
    private static final int MOST_PATHS = 8;
    private static final String WRONG_TOKEN = "the token is wrong";

    private final BootstrapContext engine;
    private final Poller loop;
    private final FramedSocket socket;
    private final SourceShare share;
    private final long begunAt;
    private final long deadline;
    private final long silenceNanos;

    private volatile boolean answered;
    private boolean over;
    private boolean greeted;
    private boolean counted;
    private @Nullable SessionSecret secret;
    private @Nullable PeerTerms terms;
    private @Nullable TransportFallback fallBack;
    private List<OpenTransport> paths = List.of();

    private IncomingBootstrap(BootstrapContext engine, Poller loop, int descriptor, SourceShare share) {
        this.engine = engine;
        this.share = share;
        this.loop = loop;
        this.begunAt = loop.now();
        // from the beginning: bytes that trickle in gain no time
        long nanos = engine.options().handshakeTimeout().toNanos();
        this.deadline = begunAt + nanos;
        this.silenceNanos = (long) (nanos * SILENT_SHARE);
        this.socket = FramedSocket.accepted(
                loop, descriptor, MAX_BODY, this, engine.handshakes().buffers());
    }

    /** Takes an accepted socket with its place, on the loop's thread. */
    static void begin(BootstrapContext engine, Poller loop, int descriptor, SourceShare share) {
        IncomingBootstrap bootstrap;
        try {
            bootstrap = new IncomingBootstrap(engine, loop, descriptor, share);
        } catch (RuntimeException | Error e) {
            // too late, or memory is short: the socket is closed, and its place must not stay taken
            engine.handshakes().log().log(Level.WARN, "an accepted socket could not be handled: " + e, null);
            engine.handshakes().abandoned(share);
            return;
        }
        try {
            engine.handshakes().begins(bootstrap);
            // one that says nothing must not take the place of those that do
            loop.arm(bootstrap, bootstrap.begunAt + bootstrap.silenceNanos);
            engine.unfinished().begun(bootstrap);
        } catch (RuntimeException | Error e) {
            engine.handshakes().log().log(Level.WARN, "an accepted socket could not be handled: " + e, null);
            bootstrap.abort();
        }
    }

    @Override
    public void connected() {
        // it has shown a certificate, and gets the time of one that has said something
        loop.arm(this, Math.min(deadline, loop.now() + silenceNanos));
    }

    @Override
    public @Nullable Supplier<SSLEngine> tls() {
        TlsOptions options = engine.credentials().tls();
        if (options == null) {
            // in the clear, which a peer that begins TLS can tell from an answer to it
            reject(Rejection.TLS_MISMATCH, "this engine does not speak TLS");
            return null;
        }
        // before the handshake, which is what costs most of it all
        return isAdmitted(true) ? TlsEngines.accepting(options) : null;
    }

    /** Counts it against the rate, unless its TLS handshake has done so. */
    private boolean isAdmitted(boolean hinted) {
        if (counted) {
            return true;
        }
        boolean admitted = engine.handshakes().admits(share, hinted, loop.now());
        counted = admitted;
        if (!admitted) {
            reject(Rejection.RATE, "more peers connect at once than this engine accepts (maxHandshakesPerSecond)");
        }
        return admitted;
    }

    @Override
    public void message(int type, ByteBuffer body) {
        orReject(() -> {
            switch (type) {
                case MessageType.HELLO -> hello(body);
                case MessageType.AUTHENTICATE -> authenticated(body);
                case MessageType.LANE -> lane(body);
                default -> throw new ProtocolException("a message of type " + type + " in the bootstrap");
            }
        });
    }

    private void orReject(Runnable step) {
        try {
            step.run();
        } catch (SluiceException e) {
            reject(Rejection.MALFORMED, String.valueOf(e.getMessage()));
        }
    }

    private void hello(ByteBuffer body) {
        if (greeted) {
            throw new ProtocolException("unexpected second HELLO");
        }
        greeted = true;
        if (engine.credentials().tls() != null && socket.security() == null) {
            reject(Rejection.TLS_MISMATCH, "this engine requires TLS");
            return;
        }
        byte[] helloBytes = new byte[body.remaining()];
        body.duplicate().get(helloBytes);
        FieldReader fields = new FieldReader(body);
        byte[] expected = fields.optional(Tag.EXPECTED_ENGINE_ID);
        if (expected != null && !Arrays.equals(expected, FieldReader.toBytes(engine.id()))) {
            reject(Rejection.WRONG_ENGINE, "another engine than the expected one listens here: it has been restarted");
            return;
        }
        boolean hasTokens = engine.credentials().hasTokens();
        if ((fields.number(Tag.AUTHENTICATION, 0, 1) == 1) != hasTokens) {
            reject(
                    Rejection.AUTHENTICATION,
                    hasTokens ? "this engine requires a token" : "this engine has no token, but yours has one");
            return;
        }
        boolean knowsIntegrity = fields.optional(Tag.INTEGRITY) != null;
        if (engine.options().integrity() != Integrity.NONE && !knowsIntegrity) {
            reject(
                    Rejection.INTEGRITY,
                    "this engine requires checks that yours does not support (integrity "
                            + engine.options().integrity() + "); yours is an earlier version");
            return;
        }
        byte[] nonce = fields.bytes(Tag.NONCE, NonceSource.BYTES);
        if (!hasTokens) {
            if (isAdmitted(true)) {
                choose(helloBytes, fields, null);
            }
            return;
        }
        byte[] hint = fields.optional(Tag.TOKEN_HINT);
        List<Token> lately = engine.credentials().lately();
        // a wrong token is cheap to find out, and takes nothing of the rate from those that have a right one
        boolean hinted = hint != null && TokenHint.find(lately, hint, nonce) != null;
        if (!hinted && hint != null && engine.credentials().areFixed()) {
            reject(Rejection.AUTHENTICATION, WRONG_TOKEN);
            return;
        }
        if (!isAdmitted(hinted)) {
            return;
        }
        // the peer has sent its message, and now waits for this side
        loop.arm(this, deadline);
        engine.credentials().load(loop, engine.handshakes().log(), tokens -> {
            Token token = TokenHint.find(tokens, hint, nonce);
            if (over) {
                return;
            }
            if (token == null) {
                reject(
                        Rejection.AUTHENTICATION,
                        tokens.isEmpty() ? "this engine's tokens are not available now" : WRONG_TOKEN);
                return;
            }
            orReject(() -> choose(helloBytes, fields, token));
        });
    }

    private void choose(byte[] helloBytes, FieldReader fields, @Nullable Token token) {
        if (engine.sessions().isClosing()) {
            reject(Rejection.SHUTTING_DOWN, "this engine is being shut down");
            return;
        }
        if (!hasRoom()) {
            return;
        }
        List<String> offered = fields.names(Tag.TRANSPORTS);
        String chosen = engine.transports().choose(offered, TransportFallback.reachOf(fields), knowsPaths(fields));
        if (chosen == null) {
            String lacking = engine.transports().lacking();
            reject(
                    Rejection.NO_COMMON_TRANSPORT,
                    "no transport in common: this engine has "
                            + String.join(",", engine.transports().names())
                            + (lacking.isEmpty() ? "" : "; " + lacking));
            return;
        }
        welcome(helloBytes, fields, token, chosen);
    }

    private static boolean knowsPaths(FieldReader fields) {
        return (Features.read(fields) & Features.PATHS) != 0;
    }

    private static List<String> refusing(FieldReader fields) {
        return fields.optional(Tag.TRANSPORTS_REFUSING) == null ? List.of() : fields.names(Tag.TRANSPORTS_REFUSING);
    }

    private boolean hasRoom() {
        boolean room = engine.sessions().hasRoom();
        if (!room) {
            reject(Rejection.BUSY, "this engine has as many connections as maxConnections allows");
        }
        return room;
    }

    private void welcome(byte[] helloBytes, FieldReader fields, @Nullable Token token, String chosen) {
        EngineOptions options = engine.options();
        EngineId peer = fields.engineId(Tag.ENGINE_ID);
        OpenTransport transport = Objects.requireNonNull(engine.transports().get(chosen));
        boolean knowsPaths = knowsPaths(fields);
        TransportFallback found = TransportFallback.of(engine.transports(), transport, fields, knowsPaths);
        // one that knows of paths and says nothing of any has that one
        List<OpenTransport> agreed = knowsPaths && fields.optional(Tag.PATHS) != null
                ? engine.transports()
                        .paths(
                                transport,
                                fields.names(Tag.PATHS),
                                TransportFallback.reachOf(fields),
                                refusing(fields),
                                MOST_PATHS)
                : List.of(transport);
        paths = agreed;
        long peerEpoch = fields.number(Tag.EPOCH, Long.MIN_VALUE, Long.MAX_VALUE);
        byte[] connectionId = Arrays.copyOf(engine.nonces().draw(), Welcome.CONNECTION_ID_BYTES);
        FieldWriter answer = new FieldWriter()
                .put(Tag.ENGINE_ID, FieldReader.toBytes(engine.id()))
                .put(Tag.EPOCH, engine.epoch())
                .put(Tag.NONCE, engine.nonces().draw())
                .put(Tag.CONNECTION_ID, connectionId)
                .put(Tag.TRANSPORT, chosen)
                .put(Tag.TRANSPORTS, String.join(",", engine.transports().names()))
                .put(Tag.TRANSPORTS_REACH, engine.transports().reach())
                .put(Tag.TRANSPORTS_LACKING, engine.transports().lacking())
                .put(Tag.NOTIFICATION_CREDITS, options.notificationCredits())
                .put(Tag.MAX_NOTIFICATION_BYTES, options.maxNotificationBytes())
                .put(Tag.LIVENESS_MILLIS, options.livenessTimeout().toMillis())
                .put(Tag.AUTHENTICATION, token == null ? 0 : 1);
        Integrity integrity = IntegrityTerms.agree(IntegrityTerms.read(fields), options.integrity());
        boolean knowsIntegrity = fields.optional(Tag.INTEGRITY) != null;
        if (knowsIntegrity) {
            answer.put(Tag.INTEGRITY, IntegrityTerms.write(integrity));
        }
        // an earlier version would not have it under its proof
        if (fields.optional(Tag.FEATURES) != null) {
            answer.put(Tag.FEATURES, Features.ALL);
        }
        if (agreed.size() > 1) {
            answer.put(
                    Tag.PATHS, agreed.stream().skip(1).map(OpenTransport::name).collect(Collectors.joining(",")));
        }
        byte[] unproven = Welcome.unproven(new FieldReader(ByteBuffer.wrap(answer.toBytes())));
        SessionSecret derived =
                new SessionSecret(token == null ? null : token.secret(), helloBytes, unproven, socket.security());
        secret = derived;
        fallBack = found;
        LoopGroup group = fields.optional(Tag.LOOP_GROUP) == null
                ? null
                : new LoopGroup(fields.number(Tag.LOOP_GROUP, Long.MIN_VALUE, Long.MAX_VALUE));
        terms = new PeerTerms(
                false,
                peer,
                PeerIdentities.of(peer, socket.peerAddress(), token, socket.security()),
                peerEpoch,
                connectionId,
                derived,
                (int) fields.number(Tag.NOTIFICATION_CREDITS, 1, 1 << 16),
                (int) fields.number(Tag.MAX_NOTIFICATION_BYTES, 0, 1 << 20),
                fields.number(Tag.LIVENESS_MILLIS, 100, 3_600_000) * 1_000_000,
                integrity,
                knowsIntegrity,
                (Features.read(fields) & Features.DRAIN) != 0,
                knowsPaths,
                group,
                found.because(),
                null);
        answered = true;
        loop.arm(this, deadline);
        socket.send(
                MessageType.WELCOME,
                answer.put(Tag.PROOF, derived.acceptorProof()).toBytes());
    }

    private void authenticated(ByteBuffer body) {
        SessionSecret derived = secret;
        PeerTerms agreed = terms;
        TransportFallback found = fallBack;
        if (derived == null || agreed == null || found == null) {
            throw new ProtocolException("unexpected AUTHENTICATE before HELLO");
        }
        FieldReader fields = new FieldReader(body);
        byte[] proof = fields.bytes(Tag.PROOF, SessionSecret.PROOF_BYTES);
        if (!SessionSecret.matches(derived.initiatorProof(), proof)) {
            reject(Rejection.AUTHENTICATION, WRONG_TOKEN);
            return;
        }
        if (!engine.sessions().mayConnect(agreed.identity())) {
            reject(
                    Rejection.NOT_AUTHORIZED,
                    "this engine does not let " + agreed.identity().names() + " connect");
            return;
        }
        List<byte[]> offers = PathOffers.read(fields, paths.size());
        // others may have taken it since the hello
        if (!hasRoom()) {
            return;
        }
        found.log("engine " + agreed.peer());
        LoopGroup group = agreed.group();
        Poller home = group == null ? loop : engine.sessions().homeOf(group);
        AcceptedPeer accepted = new AcceptedPeer(engine, home, agreed, paths, offers);
        if (home.equals(loop)) {
            finish();
            accepted.take(socket);
        } else {
            TlsStream stream = keptStream();
            TlsPeer security = socket.security();
            // the peer has read all that was sent, or it could not have proved itself, and waits
            int descriptor = socket.release();
            accepted.bringHome(descriptor, stream, security);
            finish();
        }
    }

    /** The TLS of the socket, with buffers of its own in place of borrowed ones; null if there is none. */
    private @Nullable TlsStream keptStream() {
        TlsStream stream = socket.stream();
        if (stream != null) {
            stream.keepBuffers();
        }
        return stream;
    }

    private void lane(ByteBuffer body) {
        FieldReader fields = new FieldReader(body);
        byte[] connectionId = fields.bytes(Tag.CONNECTION_ID, Welcome.CONNECTION_ID_BYTES);
        int index = (int) fields.number(Tag.LANE_INDEX, 0, 255);
        byte[] proof = fields.bytes(Tag.PROOF, SessionSecret.PROOF_BYTES);
        BootstrappedSession session = engine.sessions().expecting(connectionId);
        if (terms != null
                || session == null
                || !SessionSecret.matches(
                        session.terms().secret().laneProof(connectionId, index, socket.security()), proof)) {
            reject(Rejection.AUTHENTICATION, "the lane does not belong to a connection of this engine");
            return;
        }
        finish();
        TlsStream stream = keptStream();
        int descriptor = socket.release();
        session.poller().execute(() -> session.laneArrived(index, descriptor, stream));
    }

    private void reject(int code, String message) {
        boolean common =
                code == Rejection.RATE || code == Rejection.HALF_OPEN || code == Rejection.MALFORMED || !greeted;
        engine.handshakes().log().log(common ? Level.DEBUG : Level.INFO, "a connection was rejected: " + message, null);
        engine.handshakes().refused(Rejection.reason(code));
        try {
            tell(code, message);
        } finally {
            finish();
            socket.close();
        }
    }

    private void tell(int code, String message) {
        boolean inTheClear = engine.credentials().tls() != null && socket.security() == null;
        if (!inTheClear || code == Rejection.TLS_MISMATCH) {
            // in the clear a peer that begins TLS would take it for an engine without TLS
            socket.send(MessageType.REJECT, Rejection.write(code, message));
        } else if (Rejection.mayComeBeforeTls(code)) {
            socket.refuseTls();
        }
    }

    @Override
    public void broken(String reason, @Nullable Throwable cause) {
        boolean scarce = cause instanceof OutOfMemoryError;
        engine.handshakes()
                .log()
                .log(
                        scarce ? Level.WARN : Level.DEBUG,
                        "a socket was closed before it became a connection: " + reason,
                        scarce ? null : cause);
        if (scarce) {
            engine.handshakes().refused(RefusalReason.TRANSPORT);
        } else if (cause instanceof SSLException) {
            engine.handshakes().refused(RefusalReason.AUTHENTICATION);
        } else if (cause instanceof ProtocolException || socket.isInsideMessage()) {
            engine.handshakes().refused(RefusalReason.MALFORMED);
        } else if (terms != null) {
            engine.handshakes().refused(RefusalReason.ABANDONED);
        }
        finish();
    }

    @Override
    protected void expired() {
        engine.handshakes().refused(RefusalReason.TIMEOUT);
        finish();
        socket.close();
    }

    @Override
    public SourceShare share() {
        return share;
    }

    @Override
    public boolean isAnswered() {
        return answered;
    }

    @Override
    public long begunAt() {
        return begunAt;
    }

    @Override
    public void evicted() {
        boolean answered = isAnswered();
        // the peer's message may wait unread in its socket because this engine is slow
        loop.execute(() -> {
            if (!over && isAnswered() == answered) {
                reject(
                        Rejection.HALF_OPEN,
                        "too many peers are connecting at once (maxHalfOpen), and this one was slow");
            }
        });
    }

    private void finish() {
        if (!over) {
            over = true;
            loop.disarm(this);
            engine.handshakes().ended(this);
            engine.unfinished().finished(this);
        }
    }

    @Override
    public Poller poller() {
        return loop;
    }

    @Override
    public void abort() {
        if (!over) {
            finish();
            socket.close();
        }
    }
}
