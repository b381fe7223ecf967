package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.blockhound.BlockingOperationError;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Pollers must not block, and Reactor and BlockHound know it. */
@ExtendWith(NoBlockingOnPollers.class)
class PollerThreadsTest {
    private static final Duration LIMIT = Patience.BOUND;

    // a transport whose transfers all end on a poller
    private final ReactiveTransferEngine here = ReactiveTransferEngine.open(overTcp());
    private final ReactiveTransferEngine there = ReactiveTransferEngine.open(overTcp());
    private Mono<TransferResult> write;

    private static EngineOptions overTcp() {
        return PatientOptions.builder().transports(List.of("tcp")).build();
    }

    @BeforeEach
    void connect() {
        ReactiveConnection connection = here.connect(there.address()).block(LIMIT);
        RemoteRegion remote = connection
                .attach(there.allocate(64, RegionOptions.readWrite()).descriptor())
                .block(LIMIT);
        write = connection.write(here.allocate(64, RegionOptions.local()), remote, 0);
    }

    @AfterEach
    void close() {
        here.close().then(there.close()).block(LIMIT);
    }

    @Test
    void signalsComeOnAPollerThatReactorKnowsAsNonBlocking() {
        Thread thread = write.map(result -> Thread.currentThread()).block(LIMIT);
        assertThat(TransferEngine.isPollerThread(thread)).isTrue();
        assertThat(Schedulers.isNonBlockingThread(thread)).isTrue();
        assertThat(Schedulers.isNonBlockingThread(Thread.currentThread())).isFalse();
    }

    @Test
    void blockOnAPollerIsAnError() {
        StepVerifier.create(write.map(result -> Mono.never().block(LIMIT)))
                .expectErrorSatisfies(error -> assertThat(error)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("not supported in thread"))
                .verify(LIMIT);
    }

    @Test
    void aBlockingCallOnAPollerIsFlagged() {
        CompletableFuture<Throwable> flagged = new CompletableFuture<>();
        write.subscribe(result -> {
            try {
                Thread.sleep(1);
                flagged.complete(null);
            } catch (InterruptedException | RuntimeException | Error e) {
                flagged.complete(e);
            }
        });
        assertThat(Patience.await(flagged)).isInstanceOf(BlockingOperationError.class);
        assertThat(NoBlockingOnPollers.expected()).hasMessageContaining("sleep");
    }

    @Test
    void blockingOnASchedulerOfOnesOwnIsFine() {
        Mono<TransferResult> elsewhere = write.publishOn(Schedulers.boundedElastic())
                .doOnNext(result -> {
                    try {
                        Thread.sleep(1);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
        StepVerifier.create(elsewhere).expectNextCount(1).expectComplete().verify(LIMIT);
    }
}
