package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.Connection;
import io.sluice.engine.Integrity;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.control.MessageType;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An engine that asks for checks, and a peer of the first version, which does not know them. */
class IntegrityAgreementTest {
    private final TransferEngine engine = TransferEngine.open(PatientOptions.builder()
            .transports(List.of("tcp"))
            .integrity(Integrity.CRC32C)
            .build());

    @AfterEach
    void close() {
        Patience.await(engine.closeAsync());
    }

    @Test
    void peerThatDoesNotKnowThemIsRejected() {
        try (RawPeer peer = new RawPeer(engine.address())) {
            peer.hello();
            FieldReader rejection =
                    new FieldReader(peer.control().receive(MessageType.REJECT).buffer());
            assertThat(rejection.number(Tag.CODE, 0, 255)).isEqualTo(Rejection.INTEGRITY);
            assertThat(rejection.text(Tag.MESSAGE)).contains("CRC32C");
            peer.control().awaitEnd();
        }
    }

    @Test
    void peerThatDoesNotAnswerWithThemIsNotConnectedTo() {
        try (RawAcceptor acceptor = new RawAcceptor()) {
            CompletableFuture<Connection> connecting = engine.connect(acceptor.address());
            Thread.ofVirtual().start(() -> answerUntilCutOff(acceptor));
            ConnectFailedException refused = Patience.failure(connecting, ConnectFailedException.class, Patience.BOUND);
            assertThat(refused).hasMessageContaining("CRC32C");
        }
    }

    private static void answerUntilCutOff(RawAcceptor acceptor) {
        try {
            acceptor.choose("tcp");
        } catch (UncheckedIOException | AssertionError cutOff) {
            // The engine hangs up when it has read the welcome.
        }
    }
}
