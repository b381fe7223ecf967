package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.AuthenticationException;
import io.sluice.engine.CapturedLog;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Token;
import io.sluice.engine.TokenSource;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.control.MessageType;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tokens are rotated while engines run and connections live. */
class TokenRotationTest {
    private static final Token OLD = token("the old secret of some length");
    private static final Token NEW = token("the new secret of some length");

    private final CapturedLog log = CapturedLog.everything();
    private final List<TransferEngine> engines = new ArrayList<>();

    @AfterEach
    void close() {
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
        log.close();
        log.assertNoErrors();
        assertThat(log.lines()).noneMatch(line -> line.contains("secret of some length"));
    }

    private static Token token(String secret) {
        return Token.of(secret.getBytes(StandardCharsets.UTF_8));
    }

    /** Tokens that change at a word. */
    private static final class Vault implements TokenSource {
        private volatile List<Token> tokens;

        Vault(Token... tokens) {
            this.tokens = List.of(tokens);
        }

        void hold(Token... next) {
            tokens = List.of(next);
        }

        @Override
        public List<Token> tokens() {
            assertThat(TransferEngine.isPollerThread(Thread.currentThread())).isFalse();
            return tokens;
        }
    }

    private TransferEngine engine(Consumer<EngineOptions.Builder> options) {
        TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("tcp"))
                .with(options)
                .build());
        engines.add(engine);
        return engine;
    }

    @Test
    void rotatesWithoutACut() {
        Vault ofTarget = new Vault(OLD);
        Vault ofInitiator = new Vault(OLD);
        TransferEngine target = engine(options -> options.tokens(ofTarget));
        TransferEngine initiator = engine(options -> options.tokens(ofInitiator));
        Connection first = Patience.await(initiator.connect(target.address()));
        ofTarget.hold(OLD, NEW);
        Patience.await(initiator.connect(target.address()));
        ofInitiator.hold(NEW, OLD);
        Patience.await(initiator.connect(target.address()));
        // the old one is accepted until it is taken out
        TransferEngine late = engine(options -> options.tokens(TokenSource.of(OLD)));
        Patience.await(late.connect(target.address()));
        ofTarget.hold(NEW);
        Patience.await(initiator.connect(target.address()));
        Patience.failure(late.connect(target.address()), AuthenticationException.class);
        assertThat(first.state()).isEqualTo(ConnectionState.OPEN);
    }

    @Test
    void peerOfAnEarlierVersionMeansTheFirst() {
        TransferEngine target = engine(options -> options.tokens(new Vault(OLD, NEW)));
        try (RawPeer peer = new RawPeer(target.address()).token(OLD.secret())) {
            peer.connect();
            peer.in(target);
        }
    }

    @Test
    void hintOfAnotherTokenIsRefused() {
        TransferEngine target = engine(options -> options.tokens(new Vault(OLD, NEW)));
        try (RawPeer peer = new RawPeer(target.address()).token(OLD.secret())) {
            peer.hello(peer.helloFields().put(Tag.TOKEN_HINT, new byte[16]).toBytes());
            peer.control().receive(MessageType.REJECT);
            peer.control().awaitEnd();
        }
    }

    @Test
    void sourceThatFailsLetsNoPeerIn() {
        Vault vault = new Vault(OLD);
        TransferEngine target = engine(options -> options.tokens(vault));
        TransferEngine initiator = engine(options -> options.tokens(TokenSource.of(OLD)));
        Connection first = Patience.await(initiator.connect(target.address()));
        vault.hold();
        Patience.failure(initiator.connect(target.address()), AuthenticationException.class);
        Patience.failure(target.connect(initiator.address()), AuthenticationException.class);
        assertThat(first.state()).isEqualTo(ConnectionState.OPEN);
        assertThatThrownBy(() -> engine(options -> options.tokens(vault))).isInstanceOf(SluiceException.class);
    }
}
