package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RefusalReason;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.session.LinkedEngines;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An engine takes leave of peers of this version, which know how to drain, of earlier ones, and of those that just come. */
class DrainAgreementTest {
    private static final Duration LONG = Patience.BOUND;

    // raw peers send no signs of life
    private final TransferEngine engine = TransferEngine.open(PatientOptions.builder()
            .transports(List.of("tcp"))
            .handshakeTimeout(Patience.BOUND)
            .livenessTimeout(Duration.ofHours(1))
            .build());

    @AfterEach
    void close() {
        Patience.await(engine.closeAsync());
    }

    /** A transfer that stays under way until the test ends it. */
    private CompletableFuture<Optional<SluiceException>> hold(RawPeer peer, CompletableFuture<Void> event) {
        Connection connection = peer.in(engine);
        MemoryRegion local = engine.allocate(8, RegionOptions.local());
        RemoteRegion remote = peer.attachedBy(connection, 8);
        CompletableFuture<Optional<SluiceException>> end = new CompletableFuture<>();
        connection.write(
                local,
                0,
                remote,
                0,
                8,
                TransferOptions.defaults().startAfter(StartEvent.of(event)),
                LinkedEngines.into(end));
        return end;
    }

    @Test
    void earlierVersionIsNotToldAndWhatIsUnderWayHereIsWaitedFor() {
        try (RawPeer peer = RawPeer.connected(engine)) {
            Connection connection = peer.in(engine);
            CompletableFuture<Void> event = new CompletableFuture<>();
            CompletableFuture<Optional<SluiceException>> end = hold(peer, event);
            CompletableFuture<Void> shutdown = connection.shutdown(LONG);
            Patience.until("draining", () -> connection.state() == ConnectionState.DRAINING);
            assertThat(shutdown).isNotDone();
            event.completeExceptionally(new IllegalStateException("the test wants no more"));
            assertThat(Patience.await(end)).isPresent();
            // the next that it hears is the goodbye
            peer.control().receive(MessageType.GOODBYE);
            Patience.await(shutdown);
        }
    }

    @Test
    void earlierVersionThatAcceptsIsNotToldEither() {
        try (RawAcceptor acceptor = new RawAcceptor()) {
            CompletableFuture<Connection> connecting = engine.connect(acceptor.address());
            MessageSocket control = acceptor.bootstrap();
            acceptor.acceptLane();
            control.receive(MessageType.READY);
            Connection connection = Patience.await(connecting);
            CompletableFuture<Void> shutdown = connection.shutdown(LONG);
            control.receive(MessageType.GOODBYE);
            Patience.await(shutdown);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {Features.DRAIN, -1})
    void onesThatKnowItAreAskedAndWaitedFor(long features) {
        try (RawPeer peer = new RawPeer(engine.address())) {
            peer.connect(peer.helloFields().put(Tag.FEATURES, features));
            CompletableFuture<Void> shutdown = peer.in(engine).shutdown(LONG);
            peer.control().receive(MessageType.DRAIN);
            assertThat(shutdown).isNotDone();
            peer.control().send(MessageType.DRAINED, new byte[0]);
            peer.control().receive(MessageType.GOODBYE);
            Patience.await(shutdown);
        }
    }

    @Test
    void whoComesMeanwhileIsToldTheReason() {
        try (RawPeer peer = RawPeer.connected(engine);
                RawPeer late = new RawPeer(engine.address())) {
            CompletableFuture<Void> event = new CompletableFuture<>();
            hold(peer, event);
            Patience.until("the socket is taken", () -> engine.metrics().halfOpen() == 1);
            CompletableFuture<Void> shutdown = engine.shutdown(LONG);
            late.hello();
            FieldReader rejection =
                    new FieldReader(late.control().receive(MessageType.REJECT).buffer());
            assertThat(rejection.number(Tag.CODE, 0, 255)).isEqualTo(Rejection.SHUTTING_DOWN);
            assertThat(rejection.text(Tag.MESSAGE)).contains("shut down").doesNotContain("maxConnections");
            Patience.until("it is counted", () -> engine.metrics().handshakesRefused(RefusalReason.SHUTTING_DOWN) == 1);
            assertThat(engine.metrics().handshakesRefused(RefusalReason.CONNECTIONS))
                    .isZero();
            event.completeExceptionally(new IllegalStateException("the test wants no more"));
            Patience.await(shutdown);
        }
    }
}
