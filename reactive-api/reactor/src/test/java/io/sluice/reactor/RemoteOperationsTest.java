package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.Signal;
import io.sluice.engine.StartEventException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;
import reactor.util.function.Tuple2;

/** Signals, puts, atomic operations, events and batches to several peers, between engines of this process over tcp. */
@ExtendWith(NoBlockingOnPollers.class)
class RemoteOperationsTest {
    private static final Duration LIMIT = Patience.BOUND;
    private static final EngineOptions OPTIONS =
            PatientOptions.builder().transports(List.of("tcp")).build();

    private final ReactiveTransferEngine here = ReactiveTransferEngine.open(OPTIONS);
    private final List<ReactiveTransferEngine> peers = new ArrayList<>();
    private ReactiveConnection connection;
    private MemoryRegion target;
    private RemoteRegion remote;

    /** A peer's region as this side sees it. */
    private record Peer(ReactiveConnection connection, MemoryRegion target, RemoteRegion remote) {}

    @BeforeEach
    void connect() {
        Peer peer = peer();
        connection = peer.connection();
        target = peer.target();
        remote = peer.remote();
    }

    private Peer peer() {
        ReactiveTransferEngine there = ReactiveTransferEngine.open(OPTIONS);
        peers.add(there);
        ReactiveConnection to = here.connect(there.address()).block(LIMIT);
        MemoryRegion region = there.allocate(1 << 20, RegionOptions.readWrite());
        return new Peer(to, region, to.attach(region.descriptor()).block(LIMIT));
    }

    @AfterEach
    void close() {
        here.close()
                .thenMany(Flux.fromIterable(peers).flatMap(ReactiveTransferEngine::close))
                .blockLast(LIMIT);
    }

    private MemoryRegion local(long bytes) {
        return here.allocate(bytes, RegionOptions.local());
    }

    private long word(long offset) {
        return target.segment().get(ValueLayout.JAVA_LONG, offset);
    }

    @Test
    void aWriteIsThereWhenItsSignalIs() {
        MemoryRegion source = local(4096);
        source.segment().fill((byte) 7);
        Signal counter = target.signal(8192);
        Mono<Long> arrival = ReactiveTransferEngine.awaitAtLeast(counter, 2)
                .doOnNext(seen -> assertThat(target.segment().asSlice(0, 4096).mismatch(source.segment()))
                        .isEqualTo(-1));
        Mono<Void> sending = connection
                .writeWithSignal(source, remote, 0, new RemoteSignal(remote, 8192).weak())
                .then(connection.signal(new RemoteSignal(remote, 8192).strong()));
        StepVerifier.create(Mono.zip(arrival, sending.thenReturn("sent")).map(Tuple2::getT1))
                .expectNext(2L)
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void putsAndAtomicOperationsChangeThePeersWords() {
        connection.put(remote, 0, 0x1122334455667788L, 8).block(LIMIT);
        connection.put(remote, 0, 0xffL, 1).block(LIMIT);
        assertThat(target.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 0xff);
        connection.put(remote, 16, 0, 8).block(LIMIT);
        assertThat(connection.fetchAdd(remote, 16, 40).block(LIMIT)).isZero();
        assertThat(connection.fetchAdd(remote, 16, 2).block(LIMIT)).isEqualTo(40);
        assertThat(connection.compareAndSwap(remote, 16, 41, 1).block(LIMIT)).isEqualTo(42);
        assertThat(word(16)).isEqualTo(42);
        assertThat(connection.compareAndSwap(remote, 16, 42, 1).block(LIMIT)).isEqualTo(42);
        assertThat(word(16)).isEqualTo(1);
    }

    @Test
    void everySubscriptionAddsAndSeesAnotherValue() {
        int adds = 2_000;
        Mono<Long> add = connection.fetchAdd(remote, 0, 1);
        StepVerifier.create(Flux.range(0, adds).flatMap(i -> add, 64).collectSortedList())
                .expectNext(LongStream.range(0, adds).boxed().toList())
                .expectComplete()
                .verify(LIMIT);
        assertThat(word(0)).isEqualTo(adds);
    }

    @Test
    void whatTheEngineRefusesIsSignalled() {
        StepVerifier.create(connection.fetchAdd(remote, 4, 1))
                .expectError(IllegalArgumentException.class)
                .verify(LIMIT);
        StepVerifier.create(connection.put(remote, 0, 1, 9))
                .expectError(IllegalArgumentException.class)
                .verify(LIMIT);
        RemoteRegion readOnly = connection
                .attach(peers.getFirst().allocate(64, RegionOptions.readOnly()).descriptor())
                .block(LIMIT);
        StepVerifier.create(connection.signal(new RemoteSignal(readOnly, 0).weak()))
                .expectError(RemoteAccessException.class)
                .verify(LIMIT);
    }

    @Test
    void flushAndQuietFollowWhatWasSubmitted() {
        MemoryRegion source = local(1 << 20);
        List<TransferResult> results = new ArrayList<>();
        Flux.range(0, 20).flatMap(i -> connection.write(source, remote, 0)).subscribe(results::add);
        connection.flush().block(LIMIT);
        // both are signalled by the same poller, the writes first
        assertThat(results).hasSize(20);
        connection.quiet().block(LIMIT);
    }

    @Test
    void checksumOfThePeersRange() {
        MemoryRegion source = local(1 << 20);
        source.segment().fill((byte) 7);
        connection.write(source, remote, 0).block(LIMIT);
        Mono<Long> sum = connection.checksum(remote, 10, 1000);
        assertThat(sum.repeat(1).collectList().block(LIMIT)).containsOnly(source.checksum(0, 1000));
        StepVerifier.create(connection.checksum(remote, 0, remote.length() + 1))
                .expectError(IndexOutOfBoundsException.class)
                .verify(LIMIT);
    }

    @Test
    void aWaitThatIsCancelledHearsNothingAndOthersGoOn() {
        Signal counter = target.signal(0);
        RecordingSubscriber<Long> cancelled = new RecordingSubscriber<>();
        RecordingSubscriber<Long> staying = new RecordingSubscriber<>();
        for (RecordingSubscriber<Long> subscriber : List.of(cancelled, staying)) {
            ReactiveTransferEngine.awaitAtLeast(counter, 1).subscribe(subscriber);
            subscriber.subscription.request(1);
        }
        cancelled.subscription.cancel();
        counter.add(1);
        assertThat(cancelled.items).isEmpty();
        assertThat(staying.items).containsExactly(1L);
        StepVerifier.create(ReactiveTransferEngine.awaitAtLeast(counter, 1))
                .expectNext(1L)
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void aWaitEndsWithItsRegion() {
        StepVerifier.create(ReactiveTransferEngine.awaitAtLeast(target.signal(0), 1))
                .then(() -> target.close())
                .expectError(RegionClosedException.class)
                .verify(LIMIT);
    }

    @Test
    void aTransferStartsAfterAPublisherAndItsEndGoesIntoASink() {
        Sinks.Empty<Void> computed = Sinks.empty();
        Sinks.Empty<Void> written = Sinks.empty();
        TransferOptions options = TransferOptions.defaults()
                .startAfter(ReactiveEvents.startEvent(computed.asMono()))
                .completeInto(ReactiveEvents.completionEvent(written));
        MemoryRegion source = local(64);
        RecordingSubscriber<TransferResult> write = new RecordingSubscriber<>();
        connection.write(source, 0, remote, 0, 64, options).subscribe(write);
        write.subscription.request(1);
        // what waits for nothing goes past it
        connection.write(source, remote, 64).block(LIMIT);
        assertThat(write.terminals()).isZero();
        source.segment().fill((byte) 9);
        computed.tryEmitEmpty();
        written.asMono().block(LIMIT);
        assertThat(target.segment().asSlice(0, 64).mismatch(source.segment())).isEqualTo(-1);
    }

    @Test
    void aPublisherThatFailsFailsTheTransferAndTheSink() {
        Sinks.Empty<Void> written = Sinks.empty();
        TransferOptions options = TransferOptions.defaults()
                .startAfter(ReactiveEvents.startEvent(Mono.error(new IllegalStateException("broken"))))
                .completeInto(ReactiveEvents.completionEvent(written));
        StepVerifier.create(connection.write(local(64), 0, remote, 0, 64, options))
                .expectErrorMatches(error ->
                        error instanceof StartEventException && error.getCause() instanceof IllegalStateException)
                .verify(LIMIT);
        StepVerifier.create(written.asMono())
                .expectError(StartEventException.class)
                .verify(LIMIT);
    }

    private static List<TransferElement> elements(MemoryRegion source, List<Peer> targets, int each) {
        return IntStream.range(0, each * targets.size())
                .mapToObj(i -> new TransferElement(
                        source, 64L * i, targets.get(i % targets.size()).remote(), 64L * i, 64))
                .toList();
    }

    @Test
    void oneBatchReachesManyPeersAndComesBack() {
        List<Peer> targets = List.of(peer(), peer(), peer());
        int each = 500;
        MemoryRegion source = local(64L * each * 3);
        MemoryRegion copy = local(64L * each * 3);
        for (long i = 0; i < source.length() / 8; i++) {
            source.segment().set(ValueLayout.JAVA_LONG, 8 * i, i * 31 + 1);
        }
        StepVerifier.create(here.writeVectored(elements(source, targets, each))
                        .map(TransferResult::element)
                        .collectSortedList())
                .expectNext(IntStream.range(0, 3 * each).boxed().toList())
                .expectComplete()
                .verify(LIMIT);
        StepVerifier.create(here.readVectored(Flux.fromIterable(elements(copy, targets, each)))
                        .count())
                .expectNext(3L * each)
                .expectComplete()
                .verify(LIMIT);
        assertThat(copy.segment().mismatch(source.segment())).isEqualTo(-1);
    }

    @Test
    void aPeerThatIsLostFailsItsOwnElementsAlone() {
        List<Peer> targets = List.of(peer(), peer());
        targets.get(1).connection().close().block(LIMIT);
        List<TransferResult> results = new ArrayList<>();
        StepVerifier.create(here.writeVectored(elements(local(64 * 20), targets, 10))
                        .doOnNext(results::add))
                .expectNextCount(20)
                .expectError(ElementsFailedException.class)
                .verify(LIMIT);
        assertThat(results).allMatch(result -> result.succeeded() == (result.element() % 2 == 0));
    }
}
