package io.sluice.engine.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Credits and acknowledgements that a peer makes up, or keeps to itself, end the connection. */
class DishonestAcknowledgementsTest {
    private static final Duration LIVENESS = Duration.ofSeconds(1);
    // it is looked at eight times in a liveness time-out; the rest is for busy machines
    private static final long PATIENCE_SECONDS = 5;
    private static final int CREDITS = 16;

    private final CompletableFuture<Connection> accepted = new CompletableFuture<>();
    private TransferEngine engine;
    private HandWrittenPeer peer;
    private Connection connection;

    @BeforeEach
    void open() throws Exception {
        engine = LinkedEngines.open(options -> options.livenessTimeout(LIVENESS));
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
        assertThatThrownBy(() -> connection.ended().toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS))
                .hasCauseInstanceOf(ConnectionLostException.class);
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
        CompletableFuture<Optional<SluiceException>> end = submitNotification();
        peer.receive(MessageType.NOTIFY);
        assertLost();
        assertThat(LinkedEngines.get(end)).containsInstanceOf(OutcomeUnknownException.class);
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
