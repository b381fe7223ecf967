package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sluice.engine.MemoryRegion;
import io.sluice.testkit.Patience;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A rank names another root than the others. Ranks that only send may have ended before they hear of each other, and no rank
 * may await what they have sent: then any next call is an error.
 */
class RootMismatchesTest {
    private static final CollectiveOptions DEFAULTS = CollectiveOptions.defaults();
    private static final ElementType INT = ElementType.INT32;
    private static final List<CollectiveKind> ROOTED =
            List.of(CollectiveKind.BROADCAST, CollectiveKind.REDUCE, CollectiveKind.GATHER, CollectiveKind.SCATTER);

    private static Ranks.CallOnRank call(CollectiveKind kind, List<MemoryRegion> buffers, long count, int[] roots) {
        return (rank, team, callback) -> {
            MemoryRegion buffer = buffers.get(rank);
            // a second half, as large as the blocks of all ranks
            long half = buffer.length() / 2;
            int root = roots[rank];
            switch (kind) {
                case BROADCAST -> team.broadcast(buffer, 0, count, INT, root, DEFAULTS, callback);
                case REDUCE ->
                    team.reduce(buffer, 0, buffer, half, count, INT, ReduceOperation.SUM, root, DEFAULTS, callback);
                case GATHER -> team.gather(buffer, 0, buffer, half, count, INT, root, DEFAULTS, callback);
                default -> team.scatter(buffer, 0, buffer, half, count, INT, root, DEFAULTS, callback);
            }
        };
    }

    private static List<MemoryRegion> buffers(Ranks ranks, long count) {
        return ranks.each(rank -> ranks.region(rank, 2L * ranks.size() * count * INT.bytes()));
    }

    /** Something that all ranks call alike: in a ring not all hear of all others. */
    private static Ranks.CallOnRank next(int number, List<MemoryRegion> buffers) {
        return (rank, team, callback) -> {
            if (number % 2 == 0) {
                team.barrier(DEFAULTS, callback);
            } else {
                MemoryRegion buffer = buffers.get(rank);
                team.allGather(
                        buffer,
                        0,
                        buffer,
                        buffer.length() / 2,
                        1,
                        INT,
                        DEFAULTS.withAlgorithm(Algorithm.RING),
                        callback);
            }
        };
    }

    private static int[] roots(int size, int root, int odd, int other) {
        int[] roots = new int[size];
        Arrays.fill(roots, root);
        roots[odd] = other;
        return roots;
    }

    /** Forms a team of the same engines, and closes it. */
    private static void withTeam(Ranks engines, Consumer<Ranks> what) {
        List<Team> teams = engines.formTeams(options -> options.scratchBytes(1 << 20)).stream()
                .map(Patience::await)
                .toList();
        Ranks ranks = Ranks.of(engines.each(engines::engine), teams);
        try {
            what.accept(ranks);
        } finally {
            ranks.closeTeams();
        }
    }

    /** Each rank is the odd one in its turn, and each root meets each other one. */
    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"tcp, 2", "reordering, 3"})
    void everyRankOfOtherTeamsGetsAnErrorFromItsCallOrTheNext(String transport, int size) {
        everyRankGetsAnErrorFromItsCallOrTheNext(transport, size);
    }

    @ParameterizedTest
    @CsvSource({"tcp, 3", "shm, 3"})
    void everyRankGetsAnErrorFromItsCallOrTheNext(String transport, int size) {
        try (Ranks engines = Ranks.form(transport, size)) {
            engines.closeTeams();
            List<MemoryRegion> buffers = buffers(engines, 3);
            int cases = 0;
            for (CollectiveKind kind : ROOTED) {
                for (int root = 0; root < size; root++) {
                    for (int other = 0; other < size; other++) {
                        if (other != root) {
                            int number = cases++;
                            int[] roots = roots(size, root, number % size, other);
                            String what = kind + " from roots " + Arrays.toString(roots);
                            withTeam(engines, ranks -> {
                                List<CompletableFuture<Void>> first = ranks.startEach(call(kind, buffers, 3, roots));
                                for (CompletableFuture<Void> each : ranks.startEach(next(number, buffers))) {
                                    assertThat(catchThrowable(() -> await(each)))
                                            .as("the call after " + what)
                                            .isInstanceOf(CollectiveMismatchException.class);
                                }
                                for (CompletableFuture<Void> each : first) {
                                    Throwable error = catchThrowable(() -> await(each));
                                    if (error != null) {
                                        assertThat(error).as(what).isInstanceOf(CollectiveMismatchException.class);
                                    }
                                }
                            });
                        }
                    }
                }
            }
        }
    }

    @Tag("soak")
    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void everyRankOfFourGetsAnErrorFromItsCallOrTheNext(String transport) {
        everyRankGetsAnErrorFromItsCallOrTheNext(transport, 4);
    }

    /** One root has ended before the other calls, which finds the message that it does not expect. */
    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void withoutAnotherCallTheTeamEnds(String transport) {
        try (Ranks ranks = Ranks.form(transport, 2)) {
            Ranks.CallOnRank broadcast = call(CollectiveKind.BROADCAST, buffers(ranks, 3), 3, new int[] {0, 1});
            await(ranks.on(0, broadcast));
            ranks.on(1, broadcast);
            for (int rank = 0; rank < 2; rank++) {
                failure(ranks.team(rank).ended(), CollectiveMismatchException.class);
            }
        }
    }

    /** Of more messages than there are slots, so that both roots wait for each other. */
    @ParameterizedTest
    @CsvSource({"tcp, 2", "tcp, 3"})
    void rootsThatSendMuchDoNotHang(String transport, int size) {
        long count = 1 << 20;
        try (Ranks ranks = Ranks.form(transport, size)) {
            int[] roots = roots(size, 0, size - 1, size - 1);
            List<MemoryRegion> buffers = ranks.each(rank -> ranks.region(rank, count * INT.bytes()));
            for (CompletableFuture<Void> each :
                    ranks.startEach(call(CollectiveKind.BROADCAST, buffers, count, roots))) {
                failure(each, CollectiveMismatchException.class);
            }
        }
    }
}
