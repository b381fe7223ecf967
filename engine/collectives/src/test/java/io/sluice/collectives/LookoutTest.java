package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Extent;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that look for what others store: they sleep when nothing comes, and are woken. */
class LookoutTest {
    private static final CollectiveOptions DEFAULTS = CollectiveOptions.defaults();
    private static final int PAUSES = 300;
    private static final int ROUNDS = PAUSES * Extent.of(3, 10);

    private static long cycles(TransferEngine engine) {
        return engine.metrics().pollers().stream()
                .mapToLong(poller -> poller.busyPolls() + poller.emptyPolls())
                .sum();
    }

    /** Waits until the loops of all ranks rest for a while. */
    private static void awaitSleep(Ranks ranks) {
        for (int rank = 0; rank < ranks.size(); rank++) {
            TransferEngine engine = ranks.engine(rank);
            long[] last = {-1};
            Patience.until("the loop sleeps", () -> {
                long before = last[0];
                last[0] = cycles(engine);
                // a heartbeat may come between two looks
                return last[0] - before < 10;
            });
        }
    }

    @ParameterizedTest
    @CsvSource({"shm, 2", "shm, 3", "tcp, 2", "tcp, 3"})
    void withoutWorkTheLoopsSleepAndACollectiveWakesThem(String transport, int size) {
        try (Ranks ranks = Ranks.form(transport, size)) {
            for (int i = 0; i < 5; i++) {
                awaitSleep(ranks);
                ranks.call((rank, team, callback) -> team.barrier(DEFAULTS, callback));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void oneThatWaitsForALateRankSleepsAndIsWoken(String transport) {
        try (Ranks ranks = Ranks.form(transport, 3)) {
            for (int late = 0; late < 3; late++) {
                List<CompletableFuture<Void>> running = new ArrayList<>();
                List<MemoryRegion> buffers = ranks.each(rank -> ranks.region(rank, 8));
                Ranks.CallOnRank reduces = (rank, team, callback) -> team.allReduce(
                        buffers.get(rank),
                        0,
                        buffers.get(rank),
                        0,
                        2,
                        ElementType.INT32,
                        ReduceOperation.SUM,
                        DEFAULTS,
                        callback);
                for (int rank = 0; rank < 3; rank++) {
                    if (rank != late) {
                        running.add(ranks.on(rank, reduces));
                    }
                }
                awaitSleep(ranks);
                assertThat(running).noneMatch(CompletableFuture::isDone);
                running.add(ranks.on(late, reduces));
                running.forEach(each -> await(each));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void aReceiverThatSleepsIsWoken(String transport) {
        try (Ranks ranks = Ranks.form(transport, 2)) {
            for (long bytes : new long[] {8, 1 << 20}) {
                MemoryRegion source = ranks.region(0, bytes);
                MemoryRegion target = ranks.region(1, bytes);
                source.segment().fill((byte) 3);
                CompletableFuture<Void> received = ranks.on(
                        1,
                        (rank, team, callback) ->
                                team.receive(target, 0, bytes, ElementType.INT8, 0, 5, DEFAULTS, callback));
                awaitSleep(ranks);
                CompletableFuture<Void> sent = ranks.on(
                        0,
                        (rank, team, callback) ->
                                team.send(source, 0, bytes, ElementType.INT8, 1, 5, DEFAULTS, callback));
                await(received);
                await(sent);
                assertThat(target.segment().mismatch(source.segment())).isEqualTo(-1);
            }
        }
    }

    /** Of more messages than a link has slots, some wait for slots; a rank that comes late finds them waiting. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void oneThatWaitsForSlotsSleepsAndIsWoken(String transport) {
        try (Ranks ranks = Ranks.form(transport, 2, options -> options.scratchBytes(256 << 10), engine -> {})) {
            // some hundred messages
            long bytes = 1L << 20;
            List<MemoryRegion> buffers = ranks.each(rank -> ranks.region(rank, bytes));
            Ranks.CallOnRank broadcasts = (rank, team, callback) -> team.broadcast(
                    buffers.get(rank),
                    0,
                    bytes,
                    ElementType.INT8,
                    0,
                    DEFAULTS.withAlgorithm(Algorithm.BINOMIAL),
                    callback);
            for (int round = 0; round < 5; round++) {
                buffers.getFirst().segment().fill((byte) (1 + round));
                CompletableFuture<Void> sent = ranks.on(0, broadcasts);
                awaitSleep(ranks);
                assertThat(sent).isNotDone();
                CompletableFuture<Void> received = ranks.on(1, broadcasts);
                await(sent);
                await(received);
                assertThat(buffers.get(1).segment().mismatch(buffers.get(0).segment()))
                        .isEqualTo(-1);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void manyRoundsWithPausesOfAllLengthsAreNeverMissed(String transport) {
        try (Ranks ranks = Ranks.form(transport, 2)) {
            for (int round = 0; round < ROUNDS; round++) {
                int pause = round % PAUSES;
                CompletableFuture<Void> first = ranks.on(0, (rank, team, callback) -> team.barrier(DEFAULTS, callback));
                // around the time after which the other goes to sleep
                long until = System.nanoTime() + pause * 1_000L;
                while (System.nanoTime() - until < 0) {
                    Thread.onSpinWait();
                }
                CompletableFuture<Void> second =
                        ranks.on(1, (rank, team, callback) -> team.barrier(DEFAULTS, callback));
                await(first);
                await(second);
            }
        }
    }
}
