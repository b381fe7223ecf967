package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages between two ranks, matched by their tags. */
class SendAndReceiveTest {
    private static final CollectiveOptions DEFAULTS = CollectiveOptions.defaults();

    private static CompletableFuture<Void> send(
            Ranks ranks, int from, MemoryRegion source, long count, int to, int tag) {
        return ranks.on(
                from,
                (rank, team, callback) -> team.send(source, 0, count, ElementType.INT32, to, tag, DEFAULTS, callback));
    }

    private static CompletableFuture<Void> receive(
            Ranks ranks, int to, MemoryRegion target, long count, int from, int tag) {
        return ranks.on(
                to,
                (rank, team, callback) ->
                        team.receive(target, 0, count, ElementType.INT32, from, tag, DEFAULTS, callback));
    }

    private static MemoryRegion numbers(Ranks ranks, int rank, long count, int first) {
        MemoryRegion region = ranks.region(rank, 4 * count);
        for (long i = 0; i < count; i++) {
            region.segment().setAtIndex(ValueLayout.JAVA_INT, i, first + (int) i);
        }
        return region;
    }

    private static void assertNumbers(MemoryRegion region, long count, int first) {
        for (long i = 0; i < count; i++) {
            int number = region.segment().getAtIndex(ValueLayout.JAVA_INT, i);
            if (number != first + (int) i) {
                assertThat(number).as("element %d of %d", i, count).isEqualTo(first + (int) i);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void messagesAreMatchedByTheirTags(String transport) {
        int messages = 40;
        try (Ranks ranks = Ranks.form(transport, 3)) {
            // small ones, and ones of many chunks, in both directions and in another order than they are sent
            List<CompletableFuture<Void>> ended = new ArrayList<>();
            List<Runnable> checks = new ArrayList<>();
            List<Integer> order =
                    new ArrayList<>(IntStream.range(0, messages).boxed().toList());
            for (int[] pair : new int[][] {{0, 1}, {1, 0}, {2, 0}}) {
                for (int tag = 0; tag < messages; tag++) {
                    long count = tag % 5 == 0 ? 150_000 : tag * 7L;
                    MemoryRegion source = numbers(ranks, pair[0], count, 1000 * tag);
                    ended.add(send(ranks, pair[0], source, count, pair[1], tag));
                }
                Collections.shuffle(order, new Random(pair[0]));
                for (int tag : order) {
                    long count = tag % 5 == 0 ? 150_000 : tag * 7L;
                    MemoryRegion target = ranks.region(pair[1], 4 * count);
                    ended.add(receive(ranks, pair[1], target, count, pair[0], tag));
                    checks.add(() -> assertNumbers(target, count, 1000 * tag));
                }
            }
            ranks.call((rank, team, callback) -> team.barrier(DEFAULTS, callback));
            ended.forEach(Patience::await);
            checks.forEach(Runnable::run);
        }
    }

    @Test
    void messagesOfOneTagKeepTheirOrder() {
        try (Ranks ranks = Ranks.form("shm", 2)) {
            CompletableFuture<Void> early = receive(ranks, 1, ranks.region(1, 4), 1, 0, 7);
            for (int i = 0; i < 5; i++) {
                send(ranks, 0, numbers(ranks, 0, 1, i), 1, 1, 7);
            }
            await(early);
            for (int i = 1; i < 5; i++) {
                MemoryRegion target = ranks.region(1, 4);
                await(receive(ranks, 1, target, 1, 0, 7));
                assertNumbers(target, 1, i);
            }
        }
    }

    @Test
    void aReceiveOfAnotherLengthIsAnErrorOnBothRanks() {
        try (Ranks ranks = Ranks.form("shm", 2)) {
            CompletableFuture<Void> sent = send(ranks, 0, ranks.region(0, 8), 2, 1, 7);
            CompletableFuture<Void> received = receive(ranks, 1, ranks.region(1, 4), 1, 0, 7);
            assertThat(failure(received, CollectiveMismatchException.class)).hasMessageContaining("tag 7");
            failure(sent, CollectiveMismatchException.class);
        }
    }

    @Test
    void aLostRankEndsWhatItWouldSendOrReceive() {
        try (Ranks ranks = Ranks.form("tcp", 2)) {
            List<CompletableFuture<Void>> pending = List.of(
                    send(ranks, 0, ranks.region(0, 4_000_000), 1_000_000, 1, 1),
                    receive(ranks, 0, ranks.region(0, 4), 1, 1, 2));
            await(ranks.engine(1).closeAsync());
            pending.forEach(each ->
                    assertThat(failure(each, RankFailedException.class).ranks()).containsExactly(1));
        }
    }

    /** Returns when the other rank knows of it. */
    private static void leave(Ranks ranks, int leaving) {
        await(ranks.team(leaving).closeAsync());
        int other = 1 - leaving;
        Patience.until("the rank has left", () -> ranks.team(other).failed().contains(leaving));
    }

    private static void assertFails(CompletableFuture<Void> ended) {
        assertThat(failure(ended, RankFailedException.class).ranks()).containsExactly(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void whatARankHasOnlyAnnouncedBeforeItLeftFails(String transport) {
        int count = 1 << 18;
        try (Ranks ranks = Ranks.form(transport, 2)) {
            CompletableFuture<Void> sent = send(ranks, 1, ranks.region(1, 4L * count), count, 0, 7);
            HeldLoop.awaitCycles(ranks.team(1));
            leave(ranks, 1);
            failure(sent, TeamClosedException.class);
            assertFails(receive(ranks, 0, ranks.region(0, 4L * count), count, 1, 7));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void whatARankHasSentBeforeItLeftIsReceived(String transport) {
        // their slots are given back
        int messages = 6;
        try (Ranks ranks = Ranks.form(transport, 2)) {
            for (int tag = 0; tag < messages; tag++) {
                send(ranks, 1, numbers(ranks, 1, 100, tag), 100, 0, tag);
            }
            HeldLoop.awaitCycles(ranks.team(1));
            leave(ranks, 1);
            for (int tag = 0; tag < messages; tag++) {
                MemoryRegion target = ranks.region(0, 400);
                await(receive(ranks, 0, target, 100, 1, tag));
                assertNumbers(target, 100, tag);
            }
            assertFails(receive(ranks, 0, ranks.region(0, 4), 1, 1, messages));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void whatARankHasNotSentBeforeItLeftFails(String transport) {
        try (Ranks ranks = Ranks.form(transport, 2)) {
            CompletableFuture<Void> early = receive(ranks, 0, ranks.region(0, 4), 1, 1, 7);
            HeldLoop.awaitCycles(ranks.team(0));
            leave(ranks, 1);
            assertFails(early);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void whatARankHasNotReceivedBeforeItLeftFails(String transport) {
        try (Ranks ranks = Ranks.form(transport, 2)) {
            CompletableFuture<Void> sent = send(ranks, 0, ranks.region(0, 4), 1, 1, 7);
            HeldLoop.awaitCycles(ranks.team(0));
            leave(ranks, 1);
            assertFails(sent);
        }
    }

    @Test
    void anAnswerThatCannotBeSentToALivingRankIsAnError() {
        int most = 64;
        try (Ranks ranks = Ranks.form(
                "tcp", 2, options -> options, engine -> engine.pollers(1).maxPending(most))) {
            Connection connection = ranks.engine(0).connections().stream()
                    .filter(each -> each.group() != null)
                    .findFirst()
                    .orElseThrow();
            MemoryRegion target =
                    ranks.engine(1).allocate(8, RegionOptions.readWrite().named("target"));
            RemoteRegion remote = await(connection.lookup("target").thenCompose(connection::attach));
            MemoryRegion source = ranks.region(0, 8);
            send(ranks, 1, numbers(ranks, 1, 1, 5), 1, 0, 7);
            HeldLoop.awaitCycles(ranks.team(1));
            try (HeldLoop held = new HeldLoop(ranks.team(1))) {
                // the peer acknowledges nothing
                assertThatThrownBy(() -> {
                            for (int i = 0; i <= most; i++) {
                                connection.write(
                                        source, 0, remote, 0, 8, TransferOptions.defaults(), (transfer, error) -> {});
                            }
                        })
                        .isInstanceOf(TooManyPendingException.class);
                await(receive(ranks, 0, ranks.region(0, 4), 1, 1, 7));
                failure(ranks.team(0).ended(), TooManyPendingException.class);
            }
        }
    }

    @Test
    void argumentsAreChecked() {
        try (Ranks ranks = Ranks.form("shm", 2)) {
            MemoryRegion region = ranks.region(0, 4);
            assertThatThrownBy(() -> send(ranks, 0, region, 1, 0, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> send(ranks, 0, region, 2, 1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> send(ranks, 0, region, 1, 2, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }
}
