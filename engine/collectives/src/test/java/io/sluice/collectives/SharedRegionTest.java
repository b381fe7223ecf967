package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Regions of the user's that ranks attach to each other. */
class SharedRegionTest {
    private static final int BYTES = 4096;

    private static MemoryRegion region(Ranks ranks, int rank) {
        return ranks.engine(rank).allocate(BYTES, RegionOptions.readWrite());
    }

    private static List<SharedRegion> share(Ranks ranks) {
        return ranks.each(rank -> ranks.team(rank).share(region(ranks, rank))).stream()
                .map(Patience::await)
                .toList();
    }

    /** Each rank stores a number in the regions of all others. */
    private static void storeAndCheck(Ranks ranks, List<SharedRegion> shared) {
        List<CompletableFuture<Void>> stored = new ArrayList<>();
        for (int rank = 0; rank < ranks.size(); rank++) {
            for (int peer = 0; peer < ranks.size(); peer++) {
                if (peer != rank) {
                    CompletableFuture<Void> each = new CompletableFuture<>();
                    RemoteRegion remote = shared.get(rank).of(peer);
                    remote.connection()
                            .put(
                                    remote,
                                    rank * 8L,
                                    100L * rank + peer,
                                    Long.BYTES,
                                    TransferOptions.defaults(),
                                    (transfer, error) -> {
                                        if (error == null) {
                                            each.complete(null);
                                        } else {
                                            each.completeExceptionally(error);
                                        }
                                    });
                    stored.add(each);
                }
            }
        }
        stored.forEach(Patience::await);
        for (int rank = 0; rank < ranks.size(); rank++) {
            for (int peer = 0; peer < ranks.size(); peer++) {
                assertThat(shared.get(peer).local().segment().get(ValueLayout.JAVA_LONG_UNALIGNED, rank * 8L))
                        .as("of rank %d on rank %d", rank, peer)
                        .isEqualTo(peer == rank ? 0 : 100L * rank + peer);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void eachRankReachesTheRegionsOfAllOthers(String transport) {
        try (Ranks ranks = Ranks.form(transport, 3)) {
            List<SharedRegion> shared = share(ranks);
            storeAndCheck(ranks, shared);
            for (int rank = 0; rank < 3; rank++) {
                RemoteRegion other = shared.get(rank).of((rank + 1) % 3);
                assertThat(other.connection().loop()).isEqualTo(ranks.team(rank).loop());
                assertThat(other.length()).isEqualTo(BYTES);
            }
            SharedRegion first = shared.getFirst();
            assertThatThrownBy(() -> first.of(0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> first.of(3)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    /** Nothing comes between the two halves of the exchange, though others are called meanwhile. */
    @Test
    void otherCollectivesMayFollowAtOnce() {
        try (Ranks ranks = Ranks.form("shm", 2)) {
            List<CompletableFuture<SharedRegion>> sharing = new ArrayList<>();
            List<CompletableFuture<Void>> others = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                sharing.addAll(ranks.each(rank -> ranks.team(rank).share(region(ranks, rank))));
                others.add(ranks.start((rank, team, callback) -> team.barrier(CollectiveOptions.defaults(), callback)));
            }
            others.forEach(Patience::await);
            List<SharedRegion> shared = sharing.stream().map(Patience::await).toList();
            storeAndCheck(ranks, shared.subList(4, 6));
        }
    }

    @Test
    void aTeamOfOneSharesWithNoOther() {
        try (Ranks ranks = Ranks.form("tcp", 1)) {
            SharedRegion alone = share(ranks).getFirst();
            assertThat(alone.local().length()).isEqualTo(BYTES);
            await(alone.closeAsync());
        }
    }

    @Test
    void aRegionWithoutRightsIsRefused() {
        try (Ranks ranks = Ranks.form("tcp", 1)) {
            MemoryRegion local = ranks.region(0, BYTES);
            assertThatThrownBy(() -> ranks.team(0).share(local)).isInstanceOf(IllegalStateException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void aRegionThatOneRankCannotAttachFailsOnAll(String transport) {
        try (Ranks ranks = Ranks.form(transport, 3)) {
            MemoryRegion closed = region(ranks, 1);
            CompletableFuture<SharedRegion> second = ranks.team(1).share(closed);
            await(closed.close());
            CompletableFuture<SharedRegion> first = ranks.team(0).share(region(ranks, 0));
            CompletableFuture<SharedRegion> third = ranks.team(2).share(region(ranks, 2));
            failure(first, StaleDescriptorException.class);
            failure(third, StaleDescriptorException.class);
            assertThat(failure(second, MemoryNotAccessibleException.class))
                    .hasMessageContaining("rank 0")
                    .hasMessageContaining("rank 1");
            // the team has not failed
            storeAndCheck(ranks, share(ranks));
        }
    }

    @Test
    void aRankThatCallsSomethingElseEndsItOnBoth() {
        try (Ranks ranks = Ranks.form("shm", 2)) {
            CompletableFuture<SharedRegion> sharing = ranks.team(0).share(region(ranks, 0));
            CompletableFuture<Void> other =
                    ranks.on(1, (rank, team, callback) -> team.barrier(CollectiveOptions.defaults(), callback));
            failure(sharing, CollectiveMismatchException.class);
            failure(other, CollectiveMismatchException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void nothingIsLeftOfWhatIsClosed(String transport) {
        try (Ranks ranks = Ranks.form(transport, 2)) {
            share(ranks).forEach(shared -> await(shared.closeAsync()));
            int before = OpenDescriptors.count();
            for (int i = 0; i < 5; i++) {
                List<SharedRegion> shared = share(ranks);
                storeAndCheck(ranks, shared);
                shared.forEach(each -> await(each.closeAsync()));
                shared.forEach(each -> await(each.closeAsync()));
                shared.forEach(each -> await(each.local().close()));
            }
            OpenDescriptors.assertSettleAt(before);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void aRankThatLeavesOrIsLostIsTold(String transport) {
        try (Ranks ranks = Ranks.form(transport, 3)) {
            CompletableFuture<Integer> left = new CompletableFuture<>();
            CompletableFuture<Integer> lost = new CompletableFuture<>();
            ranks.team(0).whenFailed(rank -> (rank == 1 ? left : lost).complete(rank));
            await(ranks.team(1).closeAsync());
            assertThat(await(left)).isEqualTo(1);
            await(ranks.engine(2).closeAsync());
            assertThat(await(lost)).isEqualTo(2);
            CompletableFuture<Integer> known = new CompletableFuture<>();
            ranks.team(0).whenFailed(known::complete);
            assertThat(await(known)).isEqualTo(1);
        }
    }

    @Test
    void theEndOfATeamIsTold() {
        try (Ranks ranks = Ranks.form("tcp", 3)) {
            List<CompletableFuture<Void>> ended =
                    ranks.each(rank -> ranks.team(rank).ended().toCompletableFuture());
            assertThat(ended).noneMatch(CompletableFuture::isDone);
            await(ranks.team(2).revoke());
            ended.forEach(each -> failure(each, TeamRevokedException.class));
        }
        try (Ranks ranks = Ranks.form("tcp", 1)) {
            CompletableFuture<Void> ended = ranks.team(0).ended().toCompletableFuture();
            await(ranks.team(0).closeAsync());
            await(ended);
        }
    }
}
