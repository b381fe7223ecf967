package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.AuthenticationException;
import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectOptions;
import io.sluice.engine.Connection;
import io.sluice.engine.LoopGroup;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.control.MessageType;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A transport that turns out to be of no use between two engines: the initiator connects once more, without it. */
class SecondAttemptTest {
    private static TransferEngine engine(String... transports) {
        return TransferEngine.open(
                PatientOptions.builder().transports(List.of(transports)).build());
    }

    private static void reject(MessageSocket control, int code) {
        control.send(MessageType.REJECT, Rejection.write(code, "not with you"));
    }

    @Test
    void nextTransportIsTaken() {
        try (TransferEngine engine = engine("shm", "tcp");
                RawAcceptor acceptor = new RawAcceptor()) {
            CompletableFuture<Connection> connecting = engine.connect(acceptor.address());
            MessageSocket first = acceptor.choose("shm");
            assertThat(acceptor.offered()).containsExactly("shm", "tcp");
            reject(first, Rejection.UNABLE);

            MessageSocket second = acceptor.bootstrap();
            assertThat(acceptor.offered()).containsExactly("tcp");
            acceptor.acceptLane();
            second.receive(MessageType.READY);
            assertThat(Patience.await(connecting).transport()).isEqualTo("tcp");
        }
    }

    /** It would need a second path for part of its messages, and has none. */
    @Test
    void earlierVersionTakesWhatNeedsNoOtherPath() {
        try (TransferEngine engine = engine("shm", "tcp");
                RawAcceptor acceptor = new RawAcceptor()) {
            CompletableFuture<Connection> connecting = engine.connect(acceptor.address());
            acceptor.welcome("shm", 0);
            MessageSocket second = acceptor.bootstrap();
            assertThat(acceptor.offered()).containsExactly("tcp");
            acceptor.acceptLane();
            second.receive(MessageType.READY);
            Connection connection = Patience.await(connecting);
            assertThat(connection.transport()).isEqualTo("tcp");
            assertThat(connection.paths()).hasSize(1);
        }
    }

    /** Its hello names a group of loops, and more that an earlier version does not know. */
    @Test
    void earlierVersionPassesOverTheGroup() {
        try (TransferEngine engine = engine("tcp");
                RawAcceptor acceptor = new RawAcceptor()) {
            CompletableFuture<Connection> connecting =
                    engine.connect(acceptor.address(), ConnectOptions.defaults().inGroup(new LoopGroup(7)));
            MessageSocket control = acceptor.bootstrap();
            acceptor.acceptLane();
            control.receive(MessageType.READY);
            assertThat(Patience.await(connecting).transport()).isEqualTo("tcp");
        }
    }

    @Test
    void lastTransportIsNotTriedAgain() {
        try (TransferEngine engine = engine("shm", "tcp");
                RawAcceptor acceptor = new RawAcceptor()) {
            CompletableFuture<Connection> connecting = engine.connect(acceptor.address());
            reject(acceptor.choose("shm"), Rejection.UNABLE);
            reject(acceptor.choose("tcp"), Rejection.UNABLE);
            Patience.failure(connecting, ConnectFailedException.class);
        }
    }

    /** Else a dishonest acceptor could make the initiator try for ever. */
    @Test
    void transportThatWasGivenUpIsNotTakenOnceMore() {
        try (TransferEngine engine = engine("shm", "tcp");
                RawAcceptor acceptor = new RawAcceptor()) {
            CompletableFuture<Connection> connecting = engine.connect(acceptor.address());
            reject(acceptor.choose("shm"), Rejection.UNABLE);
            acceptor.welcome("shm", Features.ALL);
            assertThat(Patience.failure(connecting, ConnectFailedException.class))
                    .hasCauseInstanceOf(ProtocolException.class)
                    .hasMessageContaining("'shm', which was not offered");
        }
    }

    /** The engine has tcp only for what shm does not reach. */
    @Test
    void transportThatIsThereForOthersAloneIsNotTakenFirst() {
        try (TransferEngine engine = engine("shm");
                RawAcceptor acceptor = new RawAcceptor()) {
            CompletableFuture<Connection> connecting = engine.connect(acceptor.address());
            acceptor.welcome("tcp", Features.ALL);
            assertThat(Patience.failure(connecting, ConnectFailedException.class))
                    .hasCauseInstanceOf(ProtocolException.class)
                    .hasMessageContaining("'tcp', which was not offered");
        }
    }

    @Test
    void anotherReasonIsFinal() {
        try (TransferEngine engine = engine("shm", "tcp");
                RawAcceptor acceptor = new RawAcceptor()) {
            CompletableFuture<Connection> connecting = engine.connect(acceptor.address());
            reject(acceptor.choose("shm"), Rejection.AUTHENTICATION);
            Patience.failure(connecting, AuthenticationException.class);
        }
    }
}
