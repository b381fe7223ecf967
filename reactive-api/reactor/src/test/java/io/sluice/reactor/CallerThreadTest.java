package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Where the subscribing thread carries a transfer out by itself, which it does inside the subscription. */
class CallerThreadTest {
    private static final Duration LIMIT = Patience.BOUND;

    private final ReactiveTransferEngine here = ReactiveTransferEngine.open(overSharedMemory());
    private final ReactiveTransferEngine there = ReactiveTransferEngine.open(overSharedMemory());
    private Mono<TransferResult> write;
    private Mono<TransferResult> large;

    private static EngineOptions overSharedMemory() {
        return PatientOptions.builder().transports(List.of("shm")).build();
    }

    @BeforeEach
    void connect() {
        ReactiveConnection connection = here.connect(there.address()).block(LIMIT);
        MemoryRegion local = here.allocate(1 << 20, RegionOptions.local());
        RemoteRegion remote = connection
                .attach(there.allocate(1 << 20, RegionOptions.readWrite()).descriptor())
                .block(LIMIT);
        write = connection.write(local.slice(0, 64), remote, 0);
        large = connection.write(local, remote, 0);
    }

    @AfterEach
    void close() {
        here.close().then(there.close()).block(LIMIT);
    }

    @Test
    void signalComesInsideTheSubscription() {
        AtomicInteger ended = new AtomicInteger();
        write.subscribe(result -> ended.incrementAndGet());
        assertThat(ended).hasValue(1);
    }

    @Test
    void manyInARowDoNotDeepenTheStack() {
        AtomicInteger deepest = new AtomicInteger();
        int rounds = 20_000;
        AtomicInteger ended = new AtomicInteger();
        write.doOnNext(result -> {
                    if (ended.incrementAndGet() % 1000 == 0) {
                        int depth = Thread.currentThread().getStackTrace().length;
                        deepest.accumulateAndGet(depth, Math::max);
                    }
                })
                .repeat(rounds - 1)
                .then()
                .block(LIMIT);
        assertThat(ended).hasValue(rounds);
        assertThat(deepest.get()).isBetween(1, 500);
    }

    @Test
    void dependentOnesDoNotDeepenTheStack() {
        AtomicInteger ended = new AtomicInteger();
        Mono<Integer> chain = Mono.just(0)
                .expand(count -> count == 20_000 ? Mono.empty() : write.map(result -> ended.incrementAndGet()))
                .last();
        assertThat(chain.block(LIMIT)).isEqualTo(20_000);
    }

    @Test
    void smallOnesAndLargeOnesMix() {
        List<TransferResult> results = Flux.range(0, 2_000)
                .flatMap(number -> number % 7 == 0 ? large : write, 32)
                .collectList()
                .block(LIMIT);
        assertThat(results).hasSize(2_000);
    }
}
