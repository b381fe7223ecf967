package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.ErrorKind;
import io.sluice.engine.LatencyHistogram;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PeerMetrics;
import io.sluice.engine.PollerMetrics;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.engine.TransportMetrics;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.testkit.EngineSums;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The figures tell what happened. */
interface MetricsContract extends Contract {
    /** How many of one kind there were, and how many bytes. */
    record Tally(long operations, long bytes) {
        Tally plus(Tally other) {
            return new Tally(operations + other.operations, bytes + other.bytes);
        }
    }

    private static void add(
            Map<String, Map<Operation, Tally>> byTransport, String transport, Operation operation, Tally tally) {
        byTransport
                .computeIfAbsent(transport, any -> new EnumMap<>(Operation.class))
                .merge(operation, tally, Tally::plus);
    }

    /** The figures of a connection's transport. */
    static TransportMetrics figures(TransferEngine engine, Connection connection) {
        return engine.metrics().transports().stream()
                .filter(transport -> transport.name().equals(connection.transport()))
                .findFirst()
                .orElseThrow();
    }

    /** The figures of the transport that carries the transfers between two regions. */
    private static TransportMetrics figures(TransferEngine engine, MemoryRegion local, RemoteRegion remote) {
        String carrying = remote.path(local.kind()).transport();
        return engine.metrics().transports().stream()
                .filter(transport -> transport.name().equals(carrying))
                .findFirst()
                .orElseThrow();
    }

    private static TransportMetrics figures(EnginePair pair) {
        return figures(pair.initiator(), pair.connection());
    }

    private static void assertSucceeded(TransportMetrics figures, Map<Operation, Tally> expected) {
        for (Operation operation : Operation.values()) {
            Tally tally = expected.getOrDefault(operation, new Tally(0, 0));
            assertThat(figures.operations(operation, Outcome.SUCCESS))
                    .as("%s", operation)
                    .isEqualTo(tally.operations());
            assertThat(figures.bytes(operation, Outcome.SUCCESS))
                    .as("bytes of %s", operation)
                    .isEqualTo(tally.bytes());
            LatencyHistogram duration = figures.duration(operation);
            LatencyHistogram wait = figures.creditWait(operation);
            LatencyHistogram completion = figures.completion(operation);
            for (LatencyHistogram histogram : List.of(duration, wait, completion)) {
                assertThat(histogram.counts()).hasSize(LatencyHistogram.boundsNanos().length + 1);
                assertThat(histogram.count())
                        .as("a time for each %s", operation)
                        .isEqualTo(tally.operations());
            }
            assertThat(wait.sumNanos() + completion.sumNanos())
                    .as("parts of the duration of %s", operation)
                    .isEqualTo(duration.sumNanos());
            if (tally.operations() > 0) {
                assertThat(duration.sumNanos()).as("%s takes time", operation).isPositive();
            }
            for (Outcome other : List.of(Outcome.ERROR, Outcome.TIMEOUT, Outcome.CANCELLED)) {
                assertThat(figures.operations(operation, other)).isZero();
                assertThat(figures.bytes(operation, other)).isZero();
            }
        }
    }

    private static void assertAtRest(EnginePair pair) {
        EngineMetrics metrics = pair.initiator().metrics();
        assertThat(metrics.pending()).isZero();
        until(
                "nothing is in flight",
                () -> metrics.window().operations() == 0
                        && metrics.window().bytes() == 0
                        && figures(pair).queueDepth() == 0);
    }

    /** The sum of the errors is that of the operations that ended so. */
    private static void assertErrorsAddUp(TransportMetrics figures) {
        long errors =
                Arrays.stream(ErrorKind.values()).mapToLong(figures::errors).sum();
        long operations = Arrays.stream(Operation.values())
                .mapToLong(operation ->
                        figures.operations(operation, Outcome.ERROR) + figures.operations(operation, Outcome.TIMEOUT))
                .sum();
        assertThat(errors).isEqualTo(operations);
    }

    @Test
    default void operationsAndBytesAreCounted() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(3 << 20);
            RemoteRegion remote = pair.attach(pair.served(3 << 20));
            RemoteRegion words = pair.attach(pair.servedByTheTarget(64));
            for (int i = 0; i < 10; i++) {
                pair.write(local, 0, remote, 0, 1000).awaitSuccess();
            }
            pair.write(local, 0, remote, 0, 3 << 20).awaitSuccess();
            pair.put(remote, 0, 1, 5).awaitSuccess();
            pair.writeWithSignal(local, 0, remote, 0, 2000, new RemoteSignal(words, 0).strong())
                    .awaitSuccess();
            pair.read(local, 0, remote, 0, 2 << 20).awaitSuccess();
            ElementSignals signals = new ElementSignals(50);
            pair.connection()
                    .readVectored(
                            Collections.nCopies(50, new TransferElement(local, 0, remote, 0, 100)),
                            TransferOptions.defaults(),
                            signals);
            signals.terminal().awaitSuccess();
            pair.signal(new RemoteSignal(words, 8).weak()).awaitSuccess();
            assertThat(pair.fetchAdd(words, 8, 1).awaitPrevious()).isEqualTo(1);
            assertThat(pair.compareAndSwap(words, 8, 2, 7).awaitPrevious()).isEqualTo(2);
            pair.notify(new byte[5]).awaitSuccess();

            // each counts for the transport of the path that carries it
            Map<String, Map<Operation, Tally>> byTransport = new TreeMap<>();
            String copies = remote.path(local.kind()).transport();
            String ofWords = words.wordPath().transport();
            add(byTransport, copies, Operation.WRITE, new Tally(12, 10_000 + (3 << 20) + 2000));
            add(byTransport, remote.wordPath().transport(), Operation.WRITE, new Tally(1, 5));
            add(byTransport, copies, Operation.READ, new Tally(51, 5_000 + (2 << 20)));
            add(byTransport, ofWords, Operation.SIGNAL, new Tally(1, 8));
            add(byTransport, ofWords, Operation.FETCH_ADD, new Tally(1, 8));
            add(byTransport, ofWords, Operation.COMPARE_AND_SWAP, new Tally(1, 8));
            add(byTransport, pair.connection().transport(), Operation.NOTIFY, new Tally(1, 5));
            Map<Operation, Tally> expected = new EnumMap<>(Operation.class);
            byTransport
                    .values()
                    .forEach(each -> each.forEach((kind, tally) -> expected.merge(kind, tally, Tally::plus)));
            EngineMetrics metrics = pair.initiator().metrics();
            TransportMetrics figures = figures(pair);
            metrics.transports()
                    .forEach(each -> assertSucceeded(each, byTransport.getOrDefault(each.name(), Map.of())));
            expected.forEach((operation, tally) -> {
                assertThat(metrics.operations(operation, Outcome.SUCCESS)).isEqualTo(tally.operations());
                assertThat(metrics.bytes(operation)).isEqualTo(tally.bytes());
            });
            assertErrorsAddUp(figures);
            assertAtRest(pair);

            long written = expected.get(Operation.WRITE).bytes();
            long read = expected.get(Operation.READ).bytes();
            assertThat(EngineSums.ofTransports(pair.initiator(), TransportMetrics::wireBytesSent))
                    .isGreaterThanOrEqualTo(written);
            assertThat(EngineSums.ofTransports(pair.initiator(), TransportMetrics::wireBytesReceived))
                    .isGreaterThanOrEqualTo(read);
            assertThat(EngineSums.ofTransports(pair.initiator(), TransportMetrics::chunks))
                    .isPositive();
            assertThat(EngineSums.ofTransports(pair.initiator(), TransportMetrics::resentChunks))
                    .isZero();
            assertThat(EngineSums.ofTransports(pair.initiator(), TransportMetrics::fences))
                    .isZero();
            if (transport().needsTargetToRun()) {
                until(
                        "the target counts what it served",
                        () -> EngineSums.ofTransports(pair.target(), TransportMetrics::servedWriteBytes) >= written
                                && EngineSums.ofTransports(pair.target(), TransportMetrics::servedReadBytes) == read);
            }
            assertThat(figures.connections()).isEqualTo(1);
            assertThat(figures.connectionsOpened()).isEqualTo(1);
            assertThat(figures.connectionsReconnected()).isZero();
            assertThat(figures.lanes(PathState.UP)).isPositive();
            assertThat(figures.lanes(PathState.HEALING)).isZero();
            assertThat(figures.lanes(PathState.DOWN)).isZero();
            assertThat(figures.rails(PathState.DOWN)).isZero();
            assertThat(metrics.regions()).isEqualTo(1);
            assertThat(metrics.regionBytes()).isEqualTo(3 << 20);
            assertThat(metrics.lockedBytesLimit()).isPositive();
            assertThat(metrics.engine())
                    .isEqualTo(pair.initiator().id().toString().substring(0, 8));
        }
    }

    @Test
    default void pollersCount() {
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.pollers(2).name("the engine"))) {
            pair.write(pair.local(1 << 20), 0, pair.attach(pair.served(1 << 20)), 0, 1 << 20)
                    .awaitSuccess();
            List<PollerMetrics> pollers = pair.initiator().metrics().pollers();
            assertThat(pollers).extracting(PollerMetrics::index).containsExactly(0, 1);
            assertThat(EngineSums.ofPollers(pair.initiator(), PollerMetrics::busyPolls))
                    .isPositive();
            assertThat(EngineSums.ofPollers(pair.initiator(), PollerMetrics::busyNanos))
                    .isPositive();
            until(
                    "each chunk has completed",
                    () -> EngineSums.ofPollers(pair.initiator(), PollerMetrics::completions)
                            == EngineSums.ofTransports(pair.initiator(), TransportMetrics::chunks));
            assertThat(EngineSums.ofTransports(pair.initiator(), TransportMetrics::chunks))
                    .isPositive();
            assertThat(pair.initiator().metrics().engine()).isEqualTo("the engine");
        }
    }

    @Test
    default void notificationsAreCounted() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.notificationCredits(3))) {
            TransportMetrics figures = figures(pair);
            assertThat(figures.notificationCredits()).isEqualTo(3);
            for (int i = 0; i < 3; i++) {
                pair.notify(new byte[7]).awaitSuccess();
            }
            // no listener at the target takes them
            TerminalSignal waiting = pair.notify(new byte[7]);
            until("one waits for a credit", () -> figures.notificationsWaiting() == 1);
            assertThat(figures.notificationCredits()).isZero();
            assertThat(figures(pair.target(), pair.accepted()).notificationsReceived())
                    .isEqualTo(3);
            pair.accepted().subscribe(new RecordingListener()).request(Long.MAX_VALUE);
            waiting.awaitSuccess();
            until(
                    "all credits are back",
                    () -> figures.notificationCredits() == 3 && figures.notificationsWaiting() == 0);
            assertThat(figures(pair.target(), pair.accepted()).notificationsReceived())
                    .isEqualTo(4);
            assertThat(figures.operations(Operation.NOTIFY, Outcome.SUCCESS)).isEqualTo(4);
            assertThat(figures.duration(Operation.NOTIFY).count()).isEqualTo(4);
        }
    }

    @Test
    default void errorsAreCounted() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(1))) {
            MemoryRegion local = pair.local(16 << 20);
            MemoryRegion served = pair.served(16 << 20);
            RemoteRegion remote = pair.attach(served);
            TransportMetrics figures = figures(pair.initiator(), local, remote);
            TerminalSignal first = pair.write(local, 0, remote, 0, 16 << 20);
            // it would end before its cancel where this thread is held up, if it could start
            TransferOptions waiting =
                    TransferOptions.defaults().startAfter(StartEvent.of(new CompletableFuture<Void>()));
            TerminalSignal cancelled = new TerminalSignal();
            pair.connection()
                    .write(local, 0, remote, 0, 16 << 20, waiting, cancelled)
                    .cancel();
            assertThat(cancelled.await()).isPresent();
            assertThat(figures.operations(Operation.WRITE, Outcome.CANCELLED)).isEqualTo(1);
            assertThat(figures.bytes(Operation.WRITE, Outcome.CANCELLED)).isEqualTo(16 << 20);
            first.awaitSuccess();

            TransferOptions never = waiting.withDeadline(Duration.ofMillis(5));
            pair.write(local, 0, remote, 0, 1000, never).awaitFailure(TransferTimeoutException.class);
            assertThat(figures.operations(Operation.WRITE, Outcome.TIMEOUT)).isEqualTo(1);
            assertThat(figures.bytes(Operation.WRITE, Outcome.TIMEOUT)).isEqualTo(1000);
            assertThat(figures.errors(ErrorKind.TIMEOUT)).isEqualTo(1);

            await(served.close());
            pair.read(local, 0, remote, 0, 64).awaitFailure(RemoteAccessException.class);
            assertThat(figures.operations(Operation.READ, Outcome.ERROR)).isEqualTo(1);
            assertThat(figures.bytes(Operation.READ, Outcome.ERROR)).isEqualTo(64);
            assertThat(figures.errors(ErrorKind.REMOTE_ACCESS)).isEqualTo(1);
            assertErrorsAddUp(figures);
            assertThat(figures.operations(Operation.WRITE, Outcome.SUCCESS)).isEqualTo(1);
            assertThat(figures.duration(Operation.WRITE).count()).isEqualTo(1);
            assertAtRest(pair);
            assertThat(pair.initiator().metrics().peers())
                    .singleElement()
                    .extracting(PeerMetrics::errors)
                    .isEqualTo(2L);
            if (transport().needsTargetToRun()) {
                until(
                        "the target counts it too",
                        () -> EngineSums.ofTransports(pair.target(), TransportMetrics::refused) >= 1);
            }
        }
    }

    @Test
    default void overflowsAreCounted() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.maxPending(1))) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            CompletableFuture<Void> event = new CompletableFuture<>();
            TerminalSignal waiting = pair.write(
                    local, 0, remote, 0, 64, TransferOptions.defaults().startAfter(StartEvent.of(event)));
            assertThatThrownBy(() -> pair.write(local, 0, remote, 0, 64)).isInstanceOf(TooManyPendingException.class);
            EngineMetrics metrics = pair.initiator().metrics();
            assertThat(metrics.pendingOverflows()).isEqualTo(1);
            assertThat(metrics.pendingLimit()).isEqualTo(1);
            assertThat(metrics.pending()).isEqualTo(1);
            event.complete(null);
            waiting.awaitSuccess();
            assertThat(metrics.pending()).isZero();
        }
    }

    @Test
    default void submissionsAfterTheEndAreErrors() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            TransportMetrics figures = figures(pair.initiator(), local, remote);
            await(pair.connection().close());
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> pair.write(local, 0, remote, 0, 16))
                        .isInstanceOf(ConnectionClosedException.class);
            }
            assertThatThrownBy(() -> pair.notify(new byte[5])).isInstanceOf(ConnectionClosedException.class);
            assertThat(figures.operations(Operation.WRITE, Outcome.ERROR)).isEqualTo(3);
            assertThat(figures.bytes(Operation.WRITE, Outcome.ERROR)).isEqualTo(48);
            assertThat(figures(pair).operations(Operation.NOTIFY, Outcome.ERROR))
                    .isEqualTo(1);
            assertThat(EngineSums.ofTransports(
                            pair.initiator(), transport -> transport.errors(ErrorKind.CONNECTION_CLOSED)))
                    .isEqualTo(4);
            assertErrorsAddUp(figures);
            assertErrorsAddUp(figures(pair));
        }
    }

    @Test
    default void whatIsDoneWithAPeerOutlivesItsConnections() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            Connection second = await(pair.initiator().connect(pair.target().address()));
            RemoteRegion again = await(second.attach(served.descriptor()));
            for (int i = 0; i < 5; i++) {
                pair.write(local, 0, remote, 0, 64).awaitSuccess();
                TerminalSignal read = new TerminalSignal();
                second.read(local, 0, again, 0, 32, TransferOptions.defaults(), read);
                read.awaitSuccess();
            }
            PeerMetrics peer = pair.initiator().metrics().peers().getFirst();
            assertThat(peer.peer()).isEqualTo(pair.target().id());
            assertThat(peer.isConnected()).isTrue();
            assertThat(peer.operations()).isEqualTo(10);
            assertThat(peer.bytes()).isEqualTo(5 * 64 + 5 * 32);
            TransportMetrics figures = figures(pair);
            TransportMetrics carrying = figures(pair.initiator(), local, remote);
            assertThat(peer.durationNanos())
                    .isEqualTo(carrying.duration(Operation.WRITE).sumNanos()
                            + carrying.duration(Operation.READ).sumNanos())
                    .isPositive();
            assertThat(peer.pending()).isZero();
            until("nothing is in flight", () -> peer.inFlightOperations() == 0);

            await(second.close());
            assertThat(peer.isConnected()).isTrue();
            await(pair.connection().close());
            until("the peer has no connection", () -> !peer.isConnected());
            assertThat(pair.initiator().metrics().peers()).containsExactly(peer);
            assertThat(peer.operations()).isEqualTo(10);
            assertThat(figures.lostPeers()).isZero();
            assertThat(figures.connectionsOpened()).isEqualTo(2);
            long silence = peer.silenceNanos();
            until("it stays silent", () -> peer.silenceNanos() > silence);
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void killedPeerShows() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        RecordingObserver observer = new RecordingObserver();
        try (PeerProcess peer = PeerProcess.start(transport(), 64);
                TransferEngine engine = TransferEngine.open(
                        transport().options().observer(observer).build())) {
            Connection connection = await(engine.connect(peer.address()));
            RemoteRegion remote = await(connection.attach(peer.region(0)));
            MemoryRegion local = allocate(engine, 64, RegionOptions.local());
            TransportMetrics figures = figures(engine, connection);
            TerminalSignal waiting = new TerminalSignal();
            connection.read(
                    local,
                    0,
                    remote,
                    0,
                    64,
                    TransferOptions.defaults().startAfter(StartEvent.of(new CompletableFuture<Void>())),
                    waiting);
            peer.kill();
            waiting.awaitFailure(ConnectionLostException.class);
            failure(connection.ended(), ConnectionLostException.class);
            assertThat(figures.errors(ErrorKind.CONNECTION_LOST)).isEqualTo(1);
            assertThat(figures.operations(Operation.READ, Outcome.ERROR)).isEqualTo(1);
            assertErrorsAddUp(figures);
            assertThat(figures.connectionsLost()).isEqualTo(1);
            assertThat(figures.lostPeers()).isEqualTo(1);
            assertThat(figures.connections()).isZero();
            PeerMetrics lost = engine.metrics().peers().getFirst();
            assertThat(lost.isConnected()).isFalse();
            assertThat(lost.errors()).isEqualTo(1);
            assertThat(observer.events())
                    .filteredOn(event -> event.startsWith("connection"))
                    .containsExactly("connection OPEN", "connection LOST");
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void silentPeerIsMissedAndLostAndComesBack() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        TerminalSignalContract.untilHeardOf(this::freezeAndThaw);
    }

    private void freezeAndThaw() {
        try (PeerProcess peer = PeerProcess.start(transport(), 64);
                TransferEngine engine = TransferEngine.open(transport()
                        .options()
                        .livenessTimeout(TerminalSignalContract.LIVENESS)
                        .build())) {
            Connection connection = await(engine.connect(peer.address()));
            TransportMetrics figures = figures(engine, connection);
            peer.freeze();
            failure(connection.ended(), ConnectionLostException.class);
            // the time-out is four intervals, of which one may be under way
            assertThat(figures.heartbeatsMissed()).isGreaterThanOrEqualTo(3);
            assertThat(figures.lostPeers()).isEqualTo(1);
            peer.thaw();
            Connection again = await(engine.connect(peer.address()));
            assertThat(again.transport()).isEqualTo(connection.transport());
            assertThat(figures.lostPeers()).isZero();
            assertThat(figures.connectionsReconnected()).isEqualTo(1);
            assertThat(figures.connectionsOpened()).isEqualTo(2);
            assertThat(engine.metrics().peers()).singleElement().satisfies(known -> {
                assertThat(known.isConnected()).isTrue();
                assertThat(known.peer()).isEqualTo(again.peer());
            });
        }
    }
}
