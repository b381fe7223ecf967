package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Access;
import io.sluice.engine.AllowedPeers;
import io.sluice.engine.AuthenticationException;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PeerAuthorizer;
import io.sluice.engine.PeerIdentity;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.Token;
import io.sluice.engine.TokenSource;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The serving side decides which operations an authenticated peer may use. */
class AuthorizationTest {
    private static final Token DECODE = token("decode-7");
    private static final Token PREFILL = token("prefill-1");
    private static final Token GUEST = token("guest");

    private final List<TransferEngine> engines = new ArrayList<>();

    @AfterEach
    void close() {
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
    }

    private static Token token(String name) {
        return Token.named(name, ("secret of " + name + " and some more").getBytes(StandardCharsets.UTF_8));
    }

    private TransferEngine engine(Consumer<EngineOptions.Builder> options) {
        TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("tcp"))
                .with(options)
                .build());
        engines.add(engine);
        return engine;
    }

    private TransferEngine target(PeerAuthorizer authorizer) {
        return engine(options -> options.tokens(() -> List.of(DECODE, PREFILL)).authorizer(authorizer));
    }

    private Connection connect(Token token, TransferEngine target) {
        TransferEngine initiator = engine(options -> options.tokens(TokenSource.of(token)));
        return Patience.await(initiator.connect(target.address()));
    }

    private static void assertDenied(CompletionStage<?> asked) {
        assertThat(Patience.failure(asked, RemoteAccessException.class).reason())
                .isEqualTo(RemoteAccessException.Reason.ACCESS_DENIED);
    }

    @Test
    void namesOfTokensDecideWhatMayBeLookedUpAndAttached() {
        TransferEngine target = target(AllowedPeers.none()
                .regions("decode-*", "kv/*", Access.REMOTE_READ)
                .regions("prefill-*", "kv/*", Access.REMOTE_READ, Access.REMOTE_WRITE));
        MemoryRegion pool = target.allocate(64, RegionOptions.readWrite().named("kv/pool"));
        MemoryRegion weights = target.allocate(64, RegionOptions.readWrite().named("weights"));
        MemoryRegion unnamed = target.allocate(64, RegionOptions.readWrite());
        Connection decode = connect(DECODE, target);
        Connection prefill = connect(PREFILL, target);

        RegionDescriptor narrowed = Patience.await(decode.lookup("kv/pool"));
        assertThat(narrowed.access()).containsExactly(Access.REMOTE_READ);
        Patience.await(decode.attach(narrowed));
        Patience.await(decode.attach(pool.slice(0, 8).descriptor(Set.of(Access.REMOTE_READ))));
        assertDenied(decode.attach(pool.descriptor()));
        assertDenied(decode.attach(pool.descriptor(Set.of(Access.REMOTE_WRITE))));
        RegionDescriptor whole = Patience.await(prefill.lookup("kv/pool"));
        assertThat(whole.access()).containsExactlyInAnyOrder(Access.values());
        Patience.await(prefill.attach(whole));

        // whether there is such a region is not said either
        assertDenied(decode.lookup("weights"));
        assertDenied(decode.lookup("no such region"));
        assertDenied(decode.attach(weights.descriptor(Set.of(Access.REMOTE_READ))));
        Patience.failure(decode.lookup("kv/none"), RegionNotFoundException.class);
        assertDenied(decode.attach(unnamed.descriptor(Set.of(Access.REMOTE_READ))));
    }

    @Test
    void descriptorsOfRegionsWithoutANameAreAskedAboutToo() {
        TransferEngine target = target(AllowedPeers.none().unnamedRegions("decode-*", Access.REMOTE_READ));
        MemoryRegion unnamed = target.allocate(64, RegionOptions.readWrite());
        Connection decode = connect(DECODE, target);
        Patience.await(decode.attach(unnamed.descriptor(Set.of(Access.REMOTE_READ))));
        assertDenied(decode.attach(unnamed.descriptor()));
    }

    @Test
    void whoIsNotOnTheListDoesNotConnect() {
        TransferEngine target = target(AllowedPeers.none().connections("decode-*"));
        connect(DECODE, target);
        TransferEngine prefill = engine(options -> options.tokens(TokenSource.of(PREFILL)));
        assertThat(Patience.failure(prefill.connect(target.address()), AuthenticationException.class))
                .hasMessageContaining("prefill-1");
        assertThat(target.connections()).hasSize(1);
    }

    @Test
    void connectingSideAsksToo() {
        TransferEngine target = engine(options -> options.tokens(TokenSource.of(GUEST)));
        TransferEngine initiator = engine(options -> options.tokens(TokenSource.of(GUEST))
                .authorizer(AllowedPeers.none().connections("decode-*")));
        Patience.failure(initiator.connect(target.address()), AuthenticationException.class);
        assertThat(initiator.connections()).isEmpty();
        Patience.until("the target has none", () -> target.connections().isEmpty());
    }

    @Test
    void regionsOfTheConnectingSideAreGuardedAsWell() {
        TransferEngine target = target(AllowedPeers.none().connections("*"));
        LinkedBlockingQueue<Connection> accepted = new LinkedBlockingQueue<>();
        target.onConnection(accepted::add);
        TransferEngine initiator = engine(options -> options.tokens(TokenSource.of(DECODE))
                .authorizer(AllowedPeers.none().connections("*")));
        MemoryRegion own = initiator.allocate(64, RegionOptions.readWrite().named("own"));
        Patience.await(initiator.connect(target.address()));
        Patience.until("it is accepted", () -> !accepted.isEmpty());
        assertDenied(accepted.peek().lookup("own"));
        assertDenied(accepted.peek().attach(own.descriptor()));
    }

    @Test
    void authorizerThatThrowsHasRefused() {
        PeerAuthorizer faulty = new PeerAuthorizer() {
            @Override
            public boolean mayConnect(PeerIdentity peer) {
                if ("decode-7".equals(peer.tokenName())) {
                    assertThat(peer.address()).isNotNull();
                    return true;
                }
                throw new IllegalStateException("no answer");
            }

            @Override
            public Set<Access> access(PeerIdentity peer, @Nullable String region) {
                throw new IllegalStateException("no answer");
            }
        };
        TransferEngine target = target(faulty);
        assertDenied(connect(DECODE, target).lookup("kv"));
        TransferEngine prefill = engine(options -> options.tokens(TokenSource.of(PREFILL)));
        Patience.failure(prefill.connect(target.address()), AuthenticationException.class);
    }
}
