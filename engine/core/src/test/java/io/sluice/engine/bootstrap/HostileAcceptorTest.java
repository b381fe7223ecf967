package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.Connection;
import io.sluice.engine.LimitExceededException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.control.MessageType;
import io.sluice.fuzz.Mutation;
import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import io.sluice.testkit.SteadyRounds;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An acceptor may do anything: connect ends in time, with a typed error, and leaves nothing behind. */
class HostileAcceptorTest {
    private final CapturedLog log = CapturedLog.warnings();
    private final TransferEngine engine = engine(Patience.BOUND);

    private static TransferEngine engine(Duration connectTimeout) {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of("tcp"))
                .connectTimeout(connectTimeout)
                .build());
    }

    @AfterEach
    void close() {
        Patience.await(engine.closeAsync());
        log.close();
        log.assertNoErrors();
    }

    @Test
    void honestAcceptorIsConnectedTo() {
        try (RawAcceptor acceptor = new RawAcceptor()) {
            CompletableFuture<Connection> connecting = engine.connect(acceptor.address());
            MessageSocket control = acceptor.bootstrap();
            acceptor.acceptLane();
            control.receive(MessageType.READY);
            assertThat(Patience.await(connecting).transport()).isEqualTo("tcp");
        }
    }

    @Test
    void acceptorThatSaysNothing() {
        try (TransferEngine impatient = engine(Duration.ofMillis(300));
                RawAcceptor acceptor = new RawAcceptor()) {
            CompletableFuture<Connection> connecting = impatient.connect(acceptor.address());
            MessageSocket control = acceptor.accept();
            Patience.failure(connecting, ConnectFailedException.class);
            control.awaitEnd();
        }
    }

    @Test
    void acceptorThatNeverAcceptsTheLane() {
        SteadyRounds.run(Duration.ofSeconds(1), timeout -> {
            // it must come as far as the lane
            try (TransferEngine impatient = engine(timeout);
                    RawAcceptor acceptor = new RawAcceptor()) {
                CompletableFuture<Connection> connecting = impatient.connect(acceptor.address());
                MessageSocket control = acceptor.bootstrap();
                MessageSocket lane = acceptor.accept();
                Patience.failure(connecting, ConnectFailedException.class);
                control.awaitEnd();
                lane.awaitEnd();
            }
        });
    }

    @Test
    void acceptorThatRejectsTheLane() {
        try (RawAcceptor acceptor = new RawAcceptor()) {
            CompletableFuture<Connection> connecting = engine.connect(acceptor.address());
            acceptor.bootstrap();
            MessageSocket lane = acceptor.accept();
            lane.receive(MessageType.LANE);
            lane.send(MessageType.REJECT, Rejection.write(Rejection.AUTHENTICATION, "no"));
            Patience.failure(connecting, ConnectFailedException.class);
            lane.awaitEnd();
        }
    }

    /** The connect can be tried again later, as when the connection itself is refused for a limit. */
    @Test
    void acceptorWhoseLimitsKeepTheLaneOut() {
        try (RawAcceptor acceptor = new RawAcceptor()) {
            CompletableFuture<Connection> connecting = engine.connect(acceptor.address());
            acceptor.bootstrap();
            MessageSocket lane = acceptor.accept();
            lane.receive(MessageType.LANE);
            lane.send(MessageType.REJECT, Rejection.write(Rejection.HALF_OPEN, "too many peers (maxHalfOpen)"));
            assertThat(Patience.failure(connecting, LimitExceededException.class))
                    .hasMessageContaining("lane 0")
                    .hasMessageContaining("maxHalfOpen");
            lane.awaitEnd();
        }
    }

    @Test
    void acceptorThatGivesUpBeforeTheConnectionIsOpenSaysWhy() {
        try (RawAcceptor acceptor = new RawAcceptor()) {
            CompletableFuture<Connection> connecting = engine.connect(acceptor.address());
            MessageSocket control = acceptor.bootstrap();
            control.send(MessageType.GIVE_UP, "no memory for lanes".getBytes(StandardCharsets.UTF_8));
            ConnectFailedException failure = Patience.failure(connecting, ConnectFailedException.class);
            assertThat(failure).hasMessageContaining("no memory for lanes");
            control.awaitEnd();
        }
    }

    /** The other lanes' sockets must not be left behind when one fails. */
    @Test
    void acceptorThatRejectsOneLaneOfSeveral() {
        try (TransferEngine wide = TransferEngine.open(PatientOptions.builder()
                        .transports(List.of("tcp"))
                        .lanes(4)
                        .connectTimeout(Duration.ofHours(1))
                        .build());
                RawAcceptor acceptor = new RawAcceptor().lanes(4)) {
            int before = OpenDescriptors.count();
            CompletableFuture<Connection> connecting = wide.connect(acceptor.address());
            MessageSocket control = acceptor.bootstrap();
            MessageSocket first = acceptor.acceptLane();
            MessageSocket second = acceptor.accept();
            MessageSocket third = acceptor.accept();
            MessageSocket fourth = acceptor.accept();
            third.send(MessageType.GOODBYE, new byte[0]);
            Patience.failure(connecting, ConnectFailedException.class);
            for (MessageSocket each : List.of(control, first, third)) {
                each.awaitEnd();
                each.close();
            }
            second.awaitEnd();
            fourth.awaitEnd();
            second.close();
            fourth.close();
            OpenDescriptors.assertSettleAt(before);
        }
    }

    @Test
    void answersThatAreDamaged() {
        FuzzSeed seed = FuzzSeed.of("HostileAcceptorTest");
        Random random = seed.random();
        int before = OpenDescriptors.count();
        int connected = 0;
        for (int i = 0; i < seed.scaled(150); i++) {
            AtomicInteger untilDamage = new AtomicInteger(random.nextInt(4));
            MessageSocket.Delivery damaging =
                    (bytes, to) -> to.write(untilDamage.getAndDecrement() == 0 ? Mutation.of(bytes, random) : bytes);
            try (RawAcceptor acceptor = new RawAcceptor(damaging, Duration.ofMillis(100))) {
                CompletableFuture<Connection> connecting = engine.connect(acceptor.address());
                try {
                    MessageSocket control = acceptor.bootstrap();
                    acceptor.acceptLane();
                    control.receive(MessageType.READY);
                } catch (UncheckedIOException | AssertionError broken) {
                    // The engine has seen the damage.
                }
                acceptor.close();
                try {
                    Patience.await(Patience.await(connecting).close());
                    connected++;
                } catch (SluiceException typed) {
                    assertThat(typed.getMessage()).hasSizeLessThan(2000);
                }
            }
        }
        System.out.println("HostileAcceptorTest: connected in spite of the damage: " + connected);
        Patience.until("no connection is left", () -> engine.connections().isEmpty());
        OpenDescriptors.assertSettleAt(before);
        honestAcceptorIsConnectedTo();
    }
}
