package io.sluice.engine.bootstrap;

import io.sluice.engine.AuthenticationException;
import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Integrity;
import io.sluice.engine.LimitExceededException;
import io.sluice.engine.LoopGroup;
import io.sluice.engine.PeerIdentity;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Token;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.control.PendingSocket;
import io.sluice.engine.control.SocketConnect;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.providers.Transports;
import io.sluice.engine.security.NotTlsException;
import io.sluice.engine.security.RefusedBeforeTlsException;
import io.sluice.engine.transport.Deadline;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** The connecting side of a bootstrap: HELLO, then WELCOME is checked and answered, then ACCEPT. */
final class OutgoingBootstrap extends Deadline implements FramedSocket.Handler, PendingSocket {
    static final int MAX_BODY = 32 * 1024;

    private final BootstrapContext engine;
    private final Poller loop;
    private final EngineAddress target;
    private final ConnectAttempt attempted;
    private final long deadline;
    private final StringBuilder attempts = new StringBuilder();

    private final Deadline attempt = new Deadline() {
        @Override
        protected void expired() {
            if (hello.length == 0 && !over && nextHost < hosts.size()) {
                socket().close();
                note(address + ": no answer");
                tryNextHost();
            }
        }
    };

    private List<InetAddress> hosts = List.of();
    private int nextHost;
    private @Nullable InetSocketAddress address;
    private @Nullable FramedSocket socket;
    private byte[] hello = {};
    private @Nullable Token token;
    private @Nullable BootstrappedSession session;
    private int paths;
    private boolean over;

    private OutgoingBootstrap(BootstrapContext engine, Poller loop, EngineAddress target, ConnectAttempt attempted) {
        this.engine = engine;
        this.loop = loop;
        this.target = target;
        this.attempted = attempted;
        this.deadline = System.nanoTime() + engine.options().connectTimeout().toNanos();
    }

    /** Begins on the loop's thread. */
    static void begin(BootstrapContext engine, Poller loop, EngineAddress target, ConnectAttempt attempted) {
        OutgoingBootstrap bootstrap = new OutgoingBootstrap(engine, loop, target, attempted);
        loop.arm(bootstrap, bootstrap.deadline);
        engine.unfinished().begun(bootstrap);
        // a resolver may take long, and must hold up neither the poller nor another connect
        Thread.ofVirtual().name("sluice-resolver").start(bootstrap::resolve);
    }

    private void resolve() {
        try {
            List<Token> tokens = engine.credentials().load();
            List<InetAddress> found = List.of(InetAddress.getAllByName(target.host()));
            loop.execute(() -> {
                token = tokens.isEmpty() ? null : tokens.getFirst();
                hosts = found;
                tryNextHost();
            });
        } catch (UnknownHostException e) {
            loop.execute(() -> fail(new ConnectFailedException("the host name of " + target + " is not known", e)));
        } catch (RuntimeException e) {
            loop.execute(() -> fail(new AuthenticationException(
                    "cannot load the credentials for " + target + ": " + e.getMessage(), e)));
        }
    }

    private void tryNextHost() {
        while (!over && nextHost < hosts.size()) {
            // the remaining addresses share the remaining time, so that a silent one leaves some for the others
            long now = System.nanoTime();
            loop.arm(attempt, now + (deadline - now) / (hosts.size() - nextHost));
            InetSocketAddress next = new InetSocketAddress(hosts.get(nextHost++), target.port());
            address = next;
            int descriptor = SocketConnect.begin(next);
            if (descriptor >= 0) {
                try {
                    socket = new FramedSocket(
                            loop,
                            descriptor,
                            true,
                            false,
                            MAX_BODY,
                            this,
                            engine.credentials().connecting(next));
                } catch (SluiceException e) {
                    fail(e);
                } catch (RuntimeException | Error e) {
                    fail(new ConnectFailedException("cannot connect to " + target + ": " + e, e));
                }
                return;
            }
            note(SocketConnect.describe(descriptor, next));
        }
        fail(new ConnectFailedException("cannot connect to " + target + ": " + attempts));
    }

    private void note(String failure) {
        attempts.append(attempts.isEmpty() ? "" : "; ").append(failure);
    }

    @Override
    public void connected() {
        EngineOptions options = engine.options();
        byte[] nonce = engine.nonces().draw();
        FieldWriter fields = new FieldWriter()
                .put(Tag.ENGINE_ID, FieldReader.toBytes(engine.id()))
                .put(Tag.EPOCH, engine.epoch())
                .put(Tag.NONCE, nonce)
                .put(Tag.TRANSPORTS, String.join(",", offered()))
                .put(Tag.TRANSPORTS_REACH, engine.transports().reach())
                .put(Tag.TRANSPORTS_LACKING, engine.transports().lacking())
                .put(Tag.NOTIFICATION_CREDITS, options.notificationCredits())
                .put(Tag.MAX_NOTIFICATION_BYTES, options.maxNotificationBytes())
                .put(Tag.LIVENESS_MILLIS, options.livenessTimeout().toMillis())
                .put(Tag.AUTHENTICATION, token == null ? 0 : 1)
                .put(Tag.INTEGRITY, IntegrityTerms.write(options.integrity()))
                .put(Tag.FEATURES, Features.ALL)
                .put(
                        Tag.PATHS,
                        engine.transports().all().stream()
                                .map(OpenTransport::name)
                                .filter(attempted::mayBeAdded)
                                .collect(Collectors.joining(",")))
                .put(
                        Tag.TRANSPORTS_REFUSING,
                        engine.transports().all().stream()
                                .filter(OpenTransport::isRefusing)
                                .map(OpenTransport::name)
                                .collect(Collectors.joining(",")));
        if (token != null) {
            fields.put(Tag.TOKEN_HINT, TokenHint.of(token, nonce));
        }
        LoopGroup group = attempted.options().group();
        if (group != null) {
            fields.put(Tag.LOOP_GROUP, group.id());
        }
        EngineId expected = target.engineId();
        if (expected != null) {
            fields.put(Tag.EXPECTED_ENGINE_ID, FieldReader.toBytes(expected));
        }
        hello = fields.toBytes();
        socket().send(MessageType.HELLO, hello);
    }

    /** The transports offered for the connection's first path, without those tried before. */
    private List<String> offered() {
        return engine.transports().names().stream()
                .filter(name -> !attempted.without().contains(name))
                .toList();
    }

    @Override
    public void message(int type, ByteBuffer body) {
        try {
            switch (type) {
                case MessageType.WELCOME -> welcomed(body);
                case MessageType.ACCEPT -> accepted(body);
                case MessageType.REJECT -> fail(Rejection.read(body, target));
                default -> throw new ProtocolException("a message of type " + type + " in the bootstrap");
            }
        } catch (SluiceException e) {
            fail(
                    e instanceof ProtocolException
                            ? new ConnectFailedException(target + " does not speak the protocol: " + e.getMessage(), e)
                            : e);
        }
    }

    private void welcomed(ByteBuffer body) {
        if (session != null) {
            throw new ProtocolException("the peer sent its WELCOME twice");
        }
        FieldReader fields = new FieldReader(body);
        EngineId peer = fields.engineId(Tag.ENGINE_ID);
        EngineId expected = target.engineId();
        if (expected != null && !expected.equals(peer)) {
            throw new ConnectFailedException(
                    "engine " + peer + " answers at " + target + ": the address names an engine that has been closed");
        }
        boolean peerAuthenticates = fields.number(Tag.AUTHENTICATION, 0, 1) == 1;
        if (peerAuthenticates != (token != null)) {
            throw new AuthenticationException(
                    token == null
                            ? target + " requires a token, but this engine has none"
                            : "this engine has a token, but " + target + " does not require one");
        }
        SessionSecret secret = new SessionSecret(
                token == null ? null : token.secret(), hello, Welcome.unproven(fields), socket().security());
        if (!SessionSecret.matches(secret.acceptorProof(), fields.bytes(Tag.PROOF, SessionSecret.PROOF_BYTES))) {
            throw new AuthenticationException(target + " does not know this engine's token");
        }
        PeerIdentity identity = PeerIdentities.of(peer, address, token, socket().security());
        if (!engine.sessions().mayConnect(identity)) {
            throw new AuthenticationException(
                    "this engine's authorizer does not let it connect to " + identity.names() + " at " + target);
        }
        String transportName = fields.text(Tag.TRANSPORT);
        OpenTransport transport = engine.transports().get(transportName);
        if (transport == null || !offered().contains(transportName)) {
            throw new ProtocolException("it chose transport '" + transportName + "', which was not offered");
        }
        Integrity integrity = IntegrityTerms.read(fields);
        if (integrity != IntegrityTerms.agree(integrity, engine.options().integrity())) {
            throw new ConnectFailedException(target + " does not support the checks that this engine requires"
                    + " (integrity " + engine.options().integrity() + "); it is an earlier version");
        }
        attempted.takes(transportName);
        boolean knowsPaths = (Features.read(fields) & Features.PATHS) != 0;
        if (!knowsPaths && Transports.isPartial(transport)) {
            // the next attempt goes without that transport
            String reason = target + " runs an earlier version, which supports no second path next to " + transportName;
            throw new ConnectFailedException(reason, new TransportUnavailableException(reason));
        }
        TransportFallback fallBack = TransportFallback.of(engine.transports(), transport, fields, knowsPaths);
        fallBack.log(target.toString());
        PeerTerms terms = new PeerTerms(
                true,
                peer,
                identity,
                fields.number(Tag.EPOCH, Long.MIN_VALUE, Long.MAX_VALUE),
                fields.bytes(Tag.CONNECTION_ID, Welcome.CONNECTION_ID_BYTES),
                secret,
                (int) fields.number(Tag.NOTIFICATION_CREDITS, 1, 1 << 16),
                (int) fields.number(Tag.MAX_NOTIFICATION_BYTES, 0, 1 << 20),
                fields.number(Tag.LIVENESS_MILLIS, 100, 3_600_000) * 1_000_000,
                integrity,
                fields.optional(Tag.INTEGRITY) != null,
                (Features.read(fields) & Features.DRAIN) != 0,
                knowsPaths,
                attempted.options().group(),
                fallBack.because(),
                address);
        List<OpenTransport> agreed = paths(transport, fields);
        BootstrappedSession begun = engine.sessions().make(loop, socket(), terms, agreed, attempted.opened());
        session = begun;
        paths = agreed.size();
        socket().send(
                        MessageType.AUTHENTICATE,
                        PathOffers.write(new FieldWriter().put(Tag.PROOF, secret.initiatorProof()), begun.offers())
                                .toBytes());
    }

    /** The transports that the peer has chosen for the connection's paths. */
    private List<OpenTransport> paths(OpenTransport first, FieldReader fields) {
        List<OpenTransport> agreed = new ArrayList<>(List.of(first));
        if (fields.optional(Tag.PATHS) != null) {
            for (String name : fields.names(Tag.PATHS)) {
                OpenTransport further = engine.transports().get(name);
                if (further == null || !attempted.mayBeAdded(name) || agreed.contains(further)) {
                    throw new ConnectFailedException(
                            target + " chose a path over '" + name + "', which was not offered");
                }
                agreed.add(further);
            }
        }
        return List.copyOf(agreed);
    }

    private void accepted(ByteBuffer body) {
        BootstrappedSession begun = session;
        if (begun == null) {
            throw new ProtocolException("the peer sent its ACCEPT before its WELCOME");
        }
        List<byte[]> offers = PathOffers.read(new FieldReader(body), paths);
        finish();
        begun.begin(offers, deadline);
    }

    @Override
    public void broken(String reason, @Nullable Throwable cause) {
        if (cause instanceof RefusedBeforeTlsException) {
            fail(new LimitExceededException(
                    target + " rejects the connection before TLS: " + RefusedBeforeTlsException.MEANING, cause));
            return;
        }
        if (cause instanceof SSLException) {
            fail(new AuthenticationException(
                    cause instanceof NotTlsException
                            ? target + " does not speak TLS, but this engine requires it"
                            : "TLS with " + target + " failed: " + reason,
                    cause));
            return;
        }
        if (hello.length == 0 && !over) {
            // not even connected: a host may have several addresses
            note(address + ": " + reason);
            tryNextHost();
            return;
        }
        fail(new ConnectFailedException("the bootstrap with " + target + " broke off: " + reason, cause));
    }

    @Override
    protected void expired() {
        fail(new ConnectFailedException("no connection to " + target + " within the connect time-out of "
                + engine.options().connectTimeout()));
    }

    private void fail(SluiceException error) {
        if (over) {
            return;
        }
        finish();
        FramedSocket current = socket;
        if (current != null) {
            current.close();
        }
        BootstrappedSession begun = session;
        if (begun != null) {
            begun.discard();
        }
        attempted.opened().completeExceptionally(error);
    }

    private void finish() {
        over = true;
        loop.disarm(this);
        loop.disarm(attempt);
        engine.unfinished().finished(this);
    }

    @Override
    public Poller poller() {
        return loop;
    }

    @Override
    public void abort() {
        fail(new ConnectionClosedException("the engine is closed"));
    }

    private FramedSocket socket() {
        FramedSocket current = socket;
        if (current == null) {
            throw new IllegalStateException("not connected");
        }
        return current;
    }
}
