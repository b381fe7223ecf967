package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.testkit.FreePort;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.util.retry.Retry;

/** Two engines of this process, over tcp; a blocking call on a poller would fail these tests. */
@ExtendWith(NoBlockingOnPollers.class)
class ReactiveTransferEngineTest {
    private static final Duration LIMIT = Patience.BOUND;
    private static final EngineOptions OPTIONS =
            PatientOptions.builder().transports(List.of("tcp")).build();

    private final ReactiveTransferEngine here = ReactiveTransferEngine.open(OPTIONS);
    private final ReactiveTransferEngine there = ReactiveTransferEngine.open(OPTIONS);
    private ReactiveConnection connection;

    @BeforeEach
    void connect() {
        connection = here.connect(there.address()).block(LIMIT);
    }

    @AfterEach
    void close() {
        here.close().then(there.close()).block(LIMIT);
    }

    private MemoryRegion local(long bytes) {
        return here.allocate(bytes, RegionOptions.local());
    }

    private RemoteRegion remote(MemoryRegion region) {
        return connection.attach(region.descriptor()).block(LIMIT);
    }

    private ReactiveConnection accepted() {
        return there.accepted().blockFirst(LIMIT);
    }

    private static void fillRandomly(MemorySegment segment) {
        byte[] bytes = new byte[(int) segment.byteSize()];
        new Random(17).nextBytes(bytes);
        MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, 0, bytes.length);
    }

    @Test
    void aWriteThenAReadMovesTheBytesThereAndBack() {
        int bytes = 3 << 20;
        MemoryRegion source = local(bytes);
        MemoryRegion target = there.allocate(bytes, RegionOptions.readWrite());
        MemoryRegion copy = local(bytes);
        fillRandomly(source.segment());
        RemoteRegion remote = remote(target);
        StepVerifier.create(connection.write(source, remote, 0).concatWith(connection.read(copy, remote, 0)))
                .expectNext(new TransferResult(0, bytes, null), new TransferResult(0, bytes, null))
                .expectComplete()
                .verify(LIMIT);
        assertThat(target.segment().mismatch(source.segment())).isEqualTo(-1);
        assertThat(copy.segment().mismatch(source.segment())).isEqualTo(-1);
    }

    @Test
    void aRegisteredSegmentIsMovedToo() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment segment = arena.allocate(4096);
            fillRandomly(segment);
            MemoryRegion source = here.register(segment, RegionOptions.local());
            MemoryRegion target = there.allocate(8192, RegionOptions.readWrite());
            connection.write(source, remote(target), 100).block(LIMIT);
            assertThat(target.segment().asSlice(100, 4096).mismatch(segment)).isEqualTo(-1);
            Mono.fromFuture(source.close()).block(LIMIT);
        }
    }

    @Test
    void aRangeOutsideIsSignalledAndTheConnectionLives() {
        MemoryRegion source = local(64);
        RemoteRegion remote = remote(there.allocate(64, RegionOptions.readWrite()));
        StepVerifier.create(connection.write(source, remote, 1))
                .expectError(IndexOutOfBoundsException.class)
                .verify(LIMIT);
        StepVerifier.create(connection.write(source, remote, 0))
                .expectNextCount(1)
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void aReadOnlyRegionIsNotWritten() {
        RemoteRegion remote = remote(there.allocate(64, RegionOptions.readOnly()));
        StepVerifier.create(connection.write(local(64), remote, 0))
                .expectError(RemoteAccessException.class)
                .verify(LIMIT);
    }

    @Test
    void aVectoredWriteMovesEveryElementWithinTheWindow() {
        int blocks = 2_000;
        int size = 4096;
        MemoryRegion source = local((long) blocks * size);
        MemoryRegion target = there.allocate((long) blocks * size, RegionOptions.readWrite());
        fillRandomly(source.segment());
        RemoteRegion remote = remote(target);
        List<TransferElement> elements = IntStream.range(0, blocks)
                .mapToObj(
                        i -> new TransferElement(source, (long) i * size, remote, (long) (blocks - 1 - i) * size, size))
                .toList();
        List<TransferResult> results =
                connection.writeVectored(elements).collectList().block(LIMIT);
        assertThat(results).hasSize(blocks).allMatch(TransferResult::succeeded);
        assertThat(results)
                .extracting(TransferResult::element)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, blocks).boxed().toList());
        for (int i = 0; i < blocks; i++) {
            assertThat(target.segment()
                            .asSlice((long) (blocks - 1 - i) * size, size)
                            .mismatch(source.segment().asSlice((long) i * size, size)))
                    .isEqualTo(-1);
        }
        assertThat(connection.connection().window().maxOperationsSeen())
                .isLessThanOrEqualTo(connection.connection().window().operationLimit());
    }

    /** A run has ended before the continuation of its last element is called. */
    @Test
    void aListNeverHasMorePendingThanMayBe() {
        EngineOptions narrow =
                OPTIONS.toBuilder().windowOperations(4).maxPending(4).build();
        ReactiveTransferEngine engine = ReactiveTransferEngine.open(narrow);
        try {
            ReactiveConnection narrowly = engine.connect(there.address()).block(LIMIT);
            MemoryRegion source = engine.allocate(64, RegionOptions.local());
            RemoteRegion target = narrowly.attach(
                            there.allocate(64, RegionOptions.readWrite()).descriptor())
                    .block(LIMIT);
            List<TransferElement> elements = Collections.nCopies(8, new TransferElement(source, 0, target, 0, 64));
            for (int round = 0; round < 200; round++) {
                assertThat(narrowly.writeVectored(elements).collectList().block(LIMIT))
                        .hasSize(elements.size())
                        .allMatch(TransferResult::succeeded);
            }
        } finally {
            engine.close().block(LIMIT);
        }
    }

    @Test
    void elementsOfAListThatDoNotEndInTimeEachHaveTheirResult() {
        MemoryRegion source = local(64);
        RemoteRegion remote = remote(there.allocate(64, RegionOptions.readWrite()));
        TransferElement element = new TransferElement(source, 0, remote, 0, 64);
        TransferOptions never = TransferOptions.defaults()
                .startAfter(StartEvent.of(new CompletableFuture<>()))
                .withDeadline(Duration.ofMillis(50));
        List<TransferResult> results = new ArrayList<>();
        StepVerifier.create(connection
                        .withOptions(never)
                        .writeVectored(Collections.nCopies(10, element))
                        .doOnNext(results::add))
                .expectNextCount(10)
                .expectErrorMatches(error -> error instanceof ElementsFailedException failed
                        && failed.failed() == 10
                        && failed.getCause() instanceof TransferTimeoutException)
                .verify(LIMIT);
        assertThat(results).allMatch(result -> result.error() instanceof TransferTimeoutException);
        Patience.until("none waits any more", () -> connection.connection().pending() == 0);
    }

    @Test
    void elementsOfAListForAConnectionThatHasEndedCountOnceEach() {
        MemoryRegion source = local(64);
        RemoteRegion remote = remote(there.allocate(64, RegionOptions.readWrite()));
        TransferElement element = new TransferElement(source, 0, remote, 0, 64);
        connection.close().block(LIMIT);
        StepVerifier.create(connection.writeVectored(Collections.nCopies(10, element)))
                .expectNextCount(10)
                .expectErrorMatches(error -> error instanceof ElementsFailedException failed
                        && failed.failed() == 10
                        && failed.getCause() instanceof ConnectionClosedException)
                .verify(LIMIT);
        Patience.until("all are counted", () -> failedWrites() >= 10);
        assertThat(failedWrites()).isEqualTo(10);
    }

    private long failedWrites() {
        return here.engine().metrics().transports().getFirst().operations(Operation.WRITE, Outcome.ERROR);
    }

    @Test
    void aCancelTakesBackTheElementsOfAList() {
        MemoryRegion source = local(64);
        RemoteRegion remote = remote(there.allocate(64, RegionOptions.readWrite()));
        TransferElement element = new TransferElement(source, 0, remote, 0, 64);
        TransferOptions never = TransferOptions.defaults().startAfter(StartEvent.of(new CompletableFuture<>()));
        StepVerifier.create(connection.withOptions(never).writeVectored(Collections.nCopies(10, element)))
                .thenCancel()
                .verify(LIMIT);
        connection.quiesced().block(LIMIT);
        Patience.until("none waits any more", () -> connection.connection().pending() == 0);
    }

    @Test
    void elementsOfAListThatLeaveTheirRegionAreToldWithThoseBeforeThemUnharmed() {
        MemoryRegion source = local(64);
        RemoteRegion remote = remote(there.allocate(64, RegionOptions.readWrite()));
        List<TransferElement> elements = List.of(
                new TransferElement(source, 0, remote, 0, 64),
                new TransferElement(source, 0, remote, 60, 64),
                new TransferElement(source, 0, remote, 0, 64));
        StepVerifier.create(connection.writeVectored(elements))
                .thenConsumeWhile(TransferResult::succeeded)
                .expectError(IndexOutOfBoundsException.class)
                .verify(LIMIT);
        assertThat(connection.connection().state()).isEqualTo(ConnectionState.OPEN);
    }

    @Test
    void aVectoredReadFromAPublisherOnAScheduler() {
        MemoryRegion target = local(64);
        RemoteRegion remote = remote(there.allocate(64, RegionOptions.readWrite()));
        AtomicInteger pollers = new AtomicInteger();
        Flux<TransferResult> read = connection
                .withScheduler(Schedulers.parallel())
                .readVectored(Flux.range(0, 10_000).map(i -> new TransferElement(target, 0, remote, 0, 64)))
                .doOnNext(result -> pollers.addAndGet(TransferEngine.isPollerThread(Thread.currentThread()) ? 1 : 0));
        StepVerifier.create(read).expectNextCount(10_000).expectComplete().verify(LIMIT);
        assertThat(pollers).hasValue(0);
    }

    @Test
    void aLongChainOfWritesRunsFromOneSubscription() {
        MemoryRegion source = local(64);
        RemoteRegion remote = remote(there.allocate(64, RegionOptions.readWrite()));
        long more = "soak".equals(System.getProperty("sluice.test.profile")) ? 5_000 : 2_000;
        StepVerifier.create(connection.write(source, remote, 0).repeat(more).count())
                .expectNext(more + 1)
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void elementsOfAClosedRegionFailAloneAndAreRetriedAlone() {
        MemoryRegion open = there.allocate(64, RegionOptions.readWrite());
        MemoryRegion closing = there.allocate(64, RegionOptions.readWrite());
        MemoryRegion source = local(64);
        RemoteRegion good = remote(open);
        RemoteRegion bad = remote(closing);
        Mono.fromFuture(closing.close()).block(LIMIT);
        List<TransferElement> elements = List.of(
                new TransferElement(source, 0, good, 0, 64),
                new TransferElement(source, 0, bad, 0, 64),
                new TransferElement(source, 0, good, 0, 64));
        List<TransferResult> results = new ArrayList<>();
        StepVerifier.create(connection.writeVectored(elements, Retry.max(2)).doOnNext(results::add))
                .expectNextCount(3)
                .expectError(ElementsFailedException.class)
                .verify(LIMIT);
        assertThat(results).extracting(TransferResult::element).containsExactlyInAnyOrder(0, 1, 2);
        assertThat(results.getLast().error()).isInstanceOf(RemoteAccessException.class);
    }

    @Test
    void notificationsArriveInOrderAndWaitForDemand() {
        ReactiveConnection peer = accepted();
        Mono<Void> sending = Flux.range(0, 200)
                .concatMap(i -> connection.notify(new byte[] {i.byteValue()}))
                .then();
        StepVerifier.create(peer.notifications().map(message -> message[0] & 0xff), 0)
                .then(sending::subscribe)
                .thenRequest(1)
                .expectNext(0)
                .expectNoEvent(Duration.ofMillis(50))
                .thenRequest(199)
                .expectNextSequence(IntStream.range(1, 200).boxed().toList())
                .thenCancel()
                .verify(LIMIT);
        connection.notify("again".getBytes()).block(LIMIT);
        assertThat(peer.notifications().blockFirst(LIMIT)).isEqualTo("again".getBytes());
    }

    @Test
    void notificationsEndWithTheConnection() {
        StepVerifier.create(accepted().notifications())
                .then(() -> connection.close().subscribe())
                .expectComplete()
                .verify(LIMIT);
        StepVerifier.create(connection.ended()).expectComplete().verify(LIMIT);
    }

    @Test
    void aNamedRegionIsFound() {
        MemoryRegion region = there.allocate(64, RegionOptions.readWrite().named("blocks"));
        assertThat(connection.lookup("blocks").block(LIMIT)).isEqualTo(region.descriptor());
        StepVerifier.create(connection.lookup("nothing"))
                .expectError(RegionNotFoundException.class)
                .verify(LIMIT);
    }

    @Test
    void manyRegionsAreAttachedAtOnceAndDetached() {
        MemoryRegion region = there.allocate(64, RegionOptions.readWrite());
        List<RemoteRegion> attached = connection
                .attach(List.of(region.descriptor(), region.slice(8, 8).descriptor()))
                .block(LIMIT);
        assertThat(attached).extracting(RemoteRegion::length).containsExactly(64L, 8L);
        connection.detach(attached.get(0)).block(LIMIT);
        StepVerifier.create(connection.write(local(8), attached.get(0), 0))
                .expectError(RemoteAccessException.class)
                .verify(LIMIT);
        connection.write(local(8), attached.get(1), 0).block(LIMIT);
    }

    @Test
    void aCancelledTransferEmitsNothingAndBecomesQuiescent() {
        MemoryRegion source = local(64 << 20);
        RemoteRegion remote = remote(there.allocate(64 << 20, RegionOptions.readWrite()));
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        connection.write(source, remote, 0).subscribe(subscriber);
        subscriber.subscription.request(1);
        subscriber.subscription.cancel();
        connection.quiesced().block(LIMIT);
        assertThat(subscriber.terminals()).isZero();
        connection.write(source, remote, 0).block(LIMIT);
    }

    @Test
    void theCachedConnectionIsSharedUntilItEnds() {
        ReactiveConnection first = here.connection(there.address()).block(LIMIT);
        ReactiveConnection second = here.connection(there.address()).block(LIMIT);
        assertThat(second.connection()).isSameAs(first.connection()).isNotSameAs(connection.connection());
        first.close().block(LIMIT);
        ReactiveConnection third = here.connection(there.address()).block(LIMIT);
        assertThat(third.connection()).isNotSameAs(first.connection());
    }

    @Test
    void acceptedGivesTheConnectionsThatAreOpenThenThoseThatComeAndEndsWithTheEngine() {
        StepVerifier.create(there.accepted().map(one -> one.connection().peer()))
                .expectNext(here.engine().id())
                .then(() -> here.connect(there.address()).subscribe())
                .expectNext(here.engine().id())
                .then(() -> there.close().subscribe())
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void aConnectionThatIsMadeAfterACancelIsClosedAgain() {
        Mono<ReactiveConnection> second = there.accepted().skip(1).next().cache();
        second.subscribe();
        here.connect(there.address()).subscribe().dispose();
        StepVerifier.create(second.flatMap(ReactiveConnection::ended))
                .expectComplete()
                .verify(LIMIT);
        Patience.until("the other is gone", () -> here.engine().connections().size() == 1);
        assertThat(here.engine().connections()).containsExactly(connection.connection());
    }

    @Test
    void connectingToNobodyFails() {
        StepVerifier.create(here.connect(EngineAddress.of("127.0.0.1", FreePort.any())))
                .expectError(ConnectFailedException.class)
                .verify(LIMIT);
    }

    @Test
    void anEngineThatExistsGetsAReactiveFace() {
        ReactiveTransferEngine again = ReactiveTransferEngine.from(here.engine());
        assertThat(again.engine()).isSameAs(here.engine());
        assertThat(again.address()).isEqualTo(here.address());
    }
}
