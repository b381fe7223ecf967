package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.StartEvent;
import io.sluice.engine.StartEventException;
import io.sluice.engine.TransferPriority;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a call's options change. */
class CollectiveOptionsTest {
    private static final CollectiveOptions DEFAULTS = CollectiveOptions.defaults();
    private static final ElementType INT = ElementType.INT32;

    /** What two ranks do with small messages alone. */
    private enum Small {
        BARRIER,
        ALL_REDUCE,
        SEND;

        Ranks.CallOnRank with(List<MemoryRegion> buffers, CollectiveOptions options) {
            return (rank, team, callback) -> {
                MemoryRegion buffer = buffers.get(rank);
                switch (this) {
                    case BARRIER -> team.barrier(options, callback);
                    case ALL_REDUCE ->
                        team.allReduce(buffer, 0, buffer, 0, 1, INT, ReduceOperation.SUM, options, callback);
                    case SEND -> {
                        if (rank == 0) {
                            team.send(buffer, 0, 1, INT, 1, 5, options, callback);
                        } else {
                            team.receive(buffer, 0, 1, INT, 0, 5, options, callback);
                        }
                    }
                }
            };
        }
    }

    /** One transfer at a time goes to the peer, so that what is urgent must overtake those that wait. */
    @ParameterizedTest
    @EnumSource
    void urgentOnesGoBeforeOthers(Small urgent) {
        long bytes = 1L << 20;
        try (Ranks ranks = Ranks.form(
                "tcp",
                2,
                options -> options,
                engine -> engine.pollers(1)
                        .windowOperations(1)
                        .priorityAging(Duration.ofHours(1))
                        .livenessTimeout(Patience.longBound()))) {
            List<MemoryRegion> large = ranks.each(rank -> ranks.region(rank, bytes));
            List<MemoryRegion> small = ranks.each(rank -> ranks.region(rank, INT.bytes()));
            List<String> order = Collections.synchronizedList(new ArrayList<>());
            List<CompletableFuture<Void>> all = new ArrayList<>();
            try (HeldLoop held = new HeldLoop(ranks.team(1))) {
                // a channel is left
                for (int i = 0; i < 3; i++) {
                    all.addAll(ranks.startEach((rank, team, callback) -> team.broadcast(
                            large.get(rank), 0, bytes, ElementType.INT8, 0, DEFAULTS, (called, error) -> {
                                if (rank == 1) {
                                    order.add("broadcast");
                                }
                                callback.ended(called, error);
                            })));
                }
                Ranks.CallOnRank call = urgent.with(small, DEFAULTS.withPriority(TransferPriority.HIGH));
                all.addAll(ranks.startEach((rank, team, callback) -> call.call(rank, team, (called, error) -> {
                    if (rank == 1) {
                        order.add("urgent");
                    }
                    callback.ended(called, error);
                })));
                HeldLoop.awaitCycles(ranks.team(0));
            }
            all.forEach(Patience::await);
            assertThat(order).hasSize(4).startsWith("urgent");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void sendsAndReceivesStartAfterTheirEvents(String transport) {
        try (Ranks ranks = Ranks.form(transport, 2)) {
            MemoryRegion source = ranks.region(0, 2L * INT.bytes());
            MemoryRegion target = ranks.region(1, 2L * INT.bytes());
            CompletableFuture<Void> filled = new CompletableFuture<>();
            CompletableFuture<Void> free = new CompletableFuture<>();
            CompletableFuture<Void> sent = ranks.on(
                    0,
                    (rank, team, callback) ->
                            team.send(source, 0, 1, INT, 1, 7, DEFAULTS.startAfter(StartEvent.of(filled)), callback));
            CompletableFuture<Void> received = ranks.on(
                    1,
                    (rank, team, callback) ->
                            team.receive(target, 0, 1, INT, 0, 7, DEFAULTS.startAfter(StartEvent.of(free)), callback));
            // of another tag, so later ones do not wait
            CompletableFuture<Void> other = ranks.on(
                    0, (rank, team, callback) -> team.send(source, INT.bytes(), 1, INT, 1, 8, DEFAULTS, callback));
            await(ranks.on(
                    1, (rank, team, callback) -> team.receive(target, INT.bytes(), 1, INT, 0, 8, DEFAULTS, callback)));
            await(other);
            source.segment().set(ValueLayout.JAVA_INT, 0, 42);
            filled.complete(null);
            ranks.call((rank, team, callback) -> team.barrier(DEFAULTS, callback));
            assertThat(received).isNotDone();
            assertThat(target.segment().get(ValueLayout.JAVA_INT, 0)).isZero();
            free.complete(null);
            await(received);
            await(sent);
            assertThat(target.segment().get(ValueLayout.JAVA_INT, 0)).isEqualTo(42);
        }
    }

    @Test
    void aSendWhoseEventWillNotHappenEndsTheTeam() {
        try (Ranks ranks = Ranks.form("shm", 2)) {
            MemoryRegion source = ranks.region(0, INT.bytes());
            CompletableFuture<Void> event = new CompletableFuture<>();
            CompletableFuture<Void> sent = ranks.on(
                    0,
                    (rank, team, callback) ->
                            team.send(source, 0, 1, INT, 1, 7, DEFAULTS.startAfter(StartEvent.of(event)), callback));
            event.completeExceptionally(new IllegalStateException("it will not happen"));
            assertThat(failure(sent, StartEventException.class)).hasMessageContaining("send");
            failure(ranks.team(1).ended(), TeamRevokedException.class);
        }
    }

    @Test
    void aSendThatWaitsForItsEventTooLongEnds() {
        try (Ranks ranks = Ranks.form("tcp", 2)) {
            MemoryRegion source = ranks.region(0, INT.bytes());
            CompletableFuture<Void> event = new CompletableFuture<>();
            CollectiveOptions options =
                    DEFAULTS.startAfter(StartEvent.of(event)).withTimeout(Duration.ofMillis(50));
            CompletableFuture<Void> sent =
                    ranks.on(0, (rank, team, callback) -> team.send(source, 0, 1, INT, 1, 7, options, callback));
            failure(sent, CollectiveTimeoutException.class);
            event.complete(null);
            failure(ranks.team(1).ended(), TeamRevokedException.class);
        }
    }

    @Test
    void aSendHasNoAlgorithm() {
        try (Ranks ranks = Ranks.form("shm", 2)) {
            MemoryRegion source = ranks.region(0, INT.bytes());
            assertThatThrownBy(() -> ranks.team(0)
                            .send(
                                    source,
                                    0,
                                    1,
                                    INT,
                                    1,
                                    7,
                                    DEFAULTS.withAlgorithm(Algorithm.DIRECT),
                                    (called, error) -> {}))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
