package io.sluice.reactor.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.testkit.FreePort;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** The peer is a process that is killed and started again while transfers run. */
class PeerRestartTest {
    private static final Duration BOUND = Patience.BOUND;
    private static final int IN_FLIGHT = 32;
    private static final ReconnectOptions OPTIONS = ReconnectOptions.defaults()
            .withBackoff(Duration.ofMillis(20), Duration.ofMillis(300))
            .withMaxWait(BOUND)
            .withCircuitBreaker(CircuitBreakerOptions.never());

    private final Random random = new Random(29);
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final AtomicInteger started = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private final AtomicInteger succeeded = new AtomicInteger();
    private volatile boolean going = true;

    @ParameterizedTest
    @CsvSource({"tcp, 2", "shm, 1"})
    void everyTransferEndsOnceAndTheNextOnesGoOn(String transport, int rounds, @TempDir Path folder) throws Exception {
        killAndRestart(transport, folder, rounds);
    }

    @Tag("soak")
    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void manyTimes(String transport, @TempDir Path folder) throws Exception {
        killAndRestart(transport, folder, 100);
    }

    private void killAndRestart(String transport, Path folder, int rounds) throws Exception {
        ReactiveTransferEngine engine = ReactiveTransferEngine.open(PatientOptions.builder()
                .transports(List.of(transport))
                .noListener()
                .build());
        int port = FreePort.any();
        ReconnectingConnection connection =
                ReconnectingConnection.to(engine, EngineAddress.of("127.0.0.1", port), OPTIONS);
        try (RestartablePeer peer = new RestartablePeer(transport, port, folder)) {
            ReconnectingRegion target = connection.region(RestartablePeer.REGION);
            MemoryRegion source = engine.allocate(RestartablePeer.BYTES, RegionOptions.local());
            fill(source.segment());
            for (int i = 0; i < IN_FLIGHT; i++) {
                keepWriting(source, target);
            }
            awaitSuccess();
            for (int round = 1; round <= rounds; round++) {
                Patience.pause(Duration.ofMillis(random.nextInt(100)));
                peer.restart();
                int made = round;
                Patience.until("the peer is connected again", () -> connection.connectionsMade() > made);
                awaitSuccess();
            }
            going = false;
            Patience.until("every transfer ends", () -> ended.get() == started.get());
            assertThat(wrong).isEmpty();

            // The peer's memory is that of its last run.
            MemoryRegion back = engine.allocate(RestartablePeer.BYTES, RegionOptions.local());
            target.write(source, 0, 0, RestartablePeer.BYTES)
                    .then(target.read(back, 0, 0, RestartablePeer.BYTES))
                    .block(BOUND);
            assertThat(source.segment().mismatch(back.segment())).isEqualTo(-1);
        } finally {
            // a writer that goes on would fail on the closed connection for ever, on the thread that closes it
            going = false;
            connection.close().then(engine.close()).block(BOUND);
        }
    }

    private void awaitSuccess() {
        int before = succeeded.get();
        Patience.until("transfers succeed", () -> succeeded.get() > before + IN_FLIGHT);
    }

    private void keepWriting(MemoryRegion source, ReconnectingRegion target) {
        if (!going) {
            return;
        }
        int length = 1 + random.nextInt(RestartablePeer.BYTES);
        Signals signals = new Signals(() -> keepWriting(source, target));
        target.write(source, 0, 0, length).subscribe(signals);
    }

    private static void fill(MemorySegment segment) {
        byte[] bytes = new byte[(int) segment.byteSize()];
        new Random(7).nextBytes(bytes);
        segment.copyFrom(MemorySegment.ofArray(bytes));
    }

    /** The subscriber of one transfer; it records signals that violate the protocol. */
    private final class Signals implements CoreSubscriber<Object> {
        private final AtomicInteger values = new AtomicInteger();
        private final AtomicInteger terminal = new AtomicInteger();
        private final Runnable then;

        Signals(Runnable then) {
            this.then = then;
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            started.incrementAndGet();
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Object value) {
            values.incrementAndGet();
        }

        @Override
        public void onError(Throwable failure) {
            ended("failed", failure instanceof ConnectionLostException && values.get() == 0, failure);
        }

        @Override
        public void onComplete() {
            succeeded.incrementAndGet();
            ended("completed", values.get() == 1, null);
        }

        private void ended(String how, boolean expected, @Nullable Throwable failure) {
            int times = terminal.incrementAndGet();
            if (!expected || times != 1) {
                wrong.add(how + ", the " + times + ". time, after " + values + " values: " + failure);
            }
            if (times == 1) {
                ended.incrementAndGet();
                then.run();
            }
        }
    }
}
