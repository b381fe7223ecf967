package io.sluice.engine.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.bootstrap.HandWrittenPeer;
import io.sluice.engine.control.MessageType;
import io.sluice.testkit.Patience;
import io.sluice.testkit.SteadyRounds;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Credits and acknowledgements that a peer makes up, or keeps to itself, end the connection. */
class DishonestAcknowledgementsTest {
    // longer than any wait, so that nothing but dishonesty ends the connection
    private static final Duration NEVER = Duration.ofHours(1);
    // the peer's signs of life must come within it
    private static final Duration LIVENESS = Duration.ofSeconds(1);
    private static final int CREDITS = 16;

    private TransferEngine engine;
    private HandWrittenPeer peer;
    private Connection connection;

    @BeforeEach
    void open() throws Exception {
        open(NEVER);
    }

    private void open(Duration liveness) throws Exception {
        CompletableFuture<Connection> accepted = new CompletableFuture<>();
        engine = LinkedEngines.open(options -> options.livenessTimeout(liveness));
        engine.onConnection(accepted::complete);
        peer = new HandWrittenPeer(engine.address().port(), 10_000);
        peer.openLane();
        peer.send(MessageType.READY, new byte[0]);
        peer.beat();
        connection = LinkedEngines.get(accepted);
    }

    @AfterEach
    void close() throws Exception {
        peer.close();
        LinkedEngines.get(engine.closeAsync());
    }

    private CompletableFuture<Optional<SluiceException>> submitNotification() {
        CompletableFuture<Optional<SluiceException>> end = new CompletableFuture<>();
        connection.notify(new byte[8], TransferOptions.defaults(), LinkedEngines.into(end));
        return end;
    }

    private void assertLost() {
        Patience.failure(connection.ended(), ConnectionLostException.class);
        assertThat(connection.state()).isEqualTo(ConnectionState.LOST);
    }

    @Test
    void creditThatWasNeverUsed() throws Exception {
        peer.acknowledge(0, 1);
        assertLost();
    }

    @Test
    void creditForWhatIsNotAcknowledged() throws Exception {
        CompletableFuture<Optional<SluiceException>> end = submitNotification();
        peer.receive(MessageType.NOTIFY);
        peer.acknowledge(0, 1);
        assertLost();
        assertThat(LinkedEngines.get(end)).containsInstanceOf(OutcomeUnknownException.class);
    }

    @Test
    void moreCreditsThanWereUsed() throws Exception {
        submitNotification();
        peer.receive(MessageType.NOTIFY);
        peer.acknowledge(1, 1 << 30);
        assertLost();
    }

    @Test
    void negativeCredits() throws Exception {
        peer.acknowledge(0, -1);
        assertLost();
    }

    @Test
    void acknowledgementOfWhatWasNotSent() throws Exception {
        CompletableFuture<Optional<SluiceException>> end = submitNotification();
        peer.receive(MessageType.NOTIFY);
        peer.acknowledge(2, 0);
        assertLost();
        assertThat(LinkedEngines.get(end)).isEmpty();
    }

    @Test
    void noAcknowledgementThoughHeartbeatsPass() throws Exception {
        SteadyRounds.run(LIVENESS, liveness -> {
            close();
            open(liveness);
            CompletableFuture<Optional<SluiceException>> end = submitNotification();
            peer.receive(MessageType.NOTIFY);
            assertLost();
            assertThat(LinkedEngines.get(end)).containsInstanceOf(OutcomeUnknownException.class);
        });
    }

    @Test
    void honestOnesGoOn() throws Exception {
        for (int i = 0; i < 3 * CREDITS; i++) {
            CompletableFuture<Optional<SluiceException>> end = submitNotification();
            peer.receive(MessageType.NOTIFY);
            peer.acknowledge(1, 1);
            assertThat(LinkedEngines.get(end)).isEmpty();
        }
        assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
    }
}
