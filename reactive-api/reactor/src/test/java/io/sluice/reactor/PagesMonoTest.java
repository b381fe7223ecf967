package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PagesFailedException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** Lists of pages as a Mono, between engines of this process over tcp. */
@ExtendWith(NoBlockingOnPollers.class)
class PagesMonoTest {
    private static final Duration LIMIT = Patience.BOUND;
    private static final EngineOptions OPTIONS =
            PatientOptions.builder().transports(List.of("tcp")).build();
    private static final int PAGE = 512;

    private final ReactiveTransferEngine here = ReactiveTransferEngine.open(OPTIONS);
    private final ReactiveTransferEngine there = ReactiveTransferEngine.open(OPTIONS);
    private ReactiveConnection connection;
    private MemoryRegion local;
    private MemoryRegion target;
    private RemoteRegion remote;

    @BeforeEach
    void connect() {
        connection = here.connect(there.address()).block(LIMIT);
        local = here.allocate(8 * PAGE, RegionOptions.local());
        target = there.allocate(8 * PAGE, RegionOptions.readWrite());
        remote = connection.attach(target.descriptor()).block(LIMIT);
        for (int i = 0; i < 8; i++) {
            page(local, i).fill((byte) (i + 1));
        }
    }

    @AfterEach
    void close() {
        here.close().block(LIMIT);
        there.close().block(LIMIT);
    }

    private static MemorySegment page(MemoryRegion region, long number) {
        return region.segment().asSlice(number * PAGE, PAGE);
    }

    @Test
    void nothingHappensBeforeTheSubscriptionAndTheTablesAreThoseOfTheCall() {
        int[] from = {0, 3, 5};
        Mono<TransferResult> write = connection.writePages(local, from, remote, new int[] {7, 1, 4}, PAGE);
        from[0] = 6;
        assertThat(page(target, 7).mismatch(page(target, 1))).isEqualTo(-1);
        StepVerifier.create(write.map(TransferResult::bytes))
                .expectNext(3L * PAGE)
                .expectComplete()
                .verify(LIMIT);
        assertThat(page(target, 7).mismatch(page(local, 0))).isEqualTo(-1);
        assertThat(page(target, 1).mismatch(page(local, 3))).isEqualTo(-1);
        assertThat(page(target, 4).mismatch(page(local, 5))).isEqualTo(-1);
        connection
                .readPages(local, new long[] {0, PAGE}, remote, new long[] {4 * PAGE, PAGE}, PAGE)
                .repeat(1)
                .blockLast(LIMIT);
        assertThat(page(local, 0).mismatch(page(local, 5))).isEqualTo(-1);
        assertThat(page(local, 1).mismatch(page(local, 3))).isEqualTo(-1);
    }

    @Test
    void whatFailsIsNamed() {
        StepVerifier.create(connection.writePages(local, new int[] {0, 8}, remote, new int[] {0, 1}, PAGE))
                .expectError(IndexOutOfBoundsException.class)
                .verify(LIMIT);
        Patience.await(target.close());
        StepVerifier.create(connection.writePages(local, new int[] {0, 2, 4}, remote, new int[] {0, 3, 1}, PAGE))
                .expectErrorSatisfies(error -> {
                    assertThat(error).isInstanceOf(PagesFailedException.class);
                    assertThat(((PagesFailedException) error).failedPages().cardinality())
                            .isEqualTo(3);
                })
                .verify(LIMIT);
    }

    @Test
    void pagesThatWaitTooLongAreNamed() {
        StartEvent never = StartEvent.of(new CompletableFuture<>());
        ReactiveConnection late = connection.withOptions(
                TransferOptions.defaults().startAfter(never).withDeadline(Duration.ofMillis(20)));
        for (Mono<TransferResult> pages : List.of(
                late.writePages(local, new int[] {0, 2, 4}, remote, new int[] {0, 3, 1}, PAGE),
                late.writePages(local, new long[] {0, 1, 2}, remote, new long[] {7, 8, 9}, PAGE),
                late.readPages(local, new int[] {0, 2, 4}, remote, new int[] {0, 3, 1}, PAGE),
                late.readPages(local, new long[] {0, 1, 2}, remote, new long[] {7, 8, 9}, PAGE))) {
            StepVerifier.create(pages)
                    .expectErrorSatisfies(error -> {
                        assertThat(error)
                                .isInstanceOf(PagesFailedException.class)
                                .hasCauseInstanceOf(TransferTimeoutException.class);
                        assertThat(((PagesFailedException) error).failedPages().stream())
                                .containsExactly(0, 1, 2);
                        assertThat(((PagesFailedException) error).pages()).isEqualTo(3);
                    })
                    .verify(LIMIT);
        }
    }
}
