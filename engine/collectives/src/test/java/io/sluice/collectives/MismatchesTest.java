package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Extent;
import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * One rank calls something else than the others: no rank hangs, and each gets a typed error, if not from the call then from
 * the next: a rank that only sends may have ended before the receiver looks.
 */
class MismatchesTest {
    private static final int RANKS = 3;
    private static final int COUNT = 12;
    // the bytes of the longest block of all ranks
    private static final long BUFFER_BYTES = 1 << 10;
    private static final ElementType TYPE = ElementType.INT32;

    private final Random random = FuzzSeed.of("MismatchesTest").random();

    /** What a rank calls. */
    private record What(
            CollectiveKind kind,
            int count,
            ElementType type,
            ReduceOperation operation,
            int root,
            Algorithm algorithm) {
        static What of(CollectiveKind kind) {
            return new What(kind, COUNT, TYPE, ReduceOperation.SUM, 0, Algorithm.AUTO);
        }

        <C extends Collective> void call(
                CollectiveOperations<C> team, MemoryRegion source, MemoryRegion target, CollectiveCallback callback) {
            CollectiveOptions options = CollectiveOptions.defaults().withAlgorithm(algorithm);
            switch (kind) {
                case ALL_REDUCE -> team.allReduce(source, 0, target, 0, count, type, operation, options, callback);
                case REDUCE_SCATTER ->
                    team.reduceScatter(source, 0, target, 0, count, type, operation, options, callback);
                case ALL_GATHER -> team.allGather(source, 0, target, 0, count, type, options, callback);
                case BROADCAST -> team.broadcast(target, 0, count, type, root, options, callback);
                case REDUCE -> team.reduce(source, 0, target, 0, count, type, operation, root, options, callback);
                case GATHER -> team.gather(source, 0, target, 0, count, type, root, options, callback);
                case SCATTER -> team.scatter(source, 0, target, 0, count, type, root, options, callback);
                case ALL_TO_ALL -> team.allToAll(source, 0, target, 0, count, type, options, callback);
                default -> team.barrier(options, callback);
            }
        }
    }

    /** Not every algorithm serves every number of ranks. */
    private static boolean serves(Team team, What what, MemoryRegion source, MemoryRegion target) {
        try {
            what.call(team.prepare(), source, target, (called, error) -> {});
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static final List<CollectiveKind> KINDS = List.of(
            CollectiveKind.ALL_REDUCE,
            CollectiveKind.REDUCE_SCATTER,
            CollectiveKind.ALL_GATHER,
            CollectiveKind.BROADCAST,
            CollectiveKind.REDUCE,
            CollectiveKind.GATHER,
            CollectiveKind.SCATTER,
            CollectiveKind.ALL_TO_ALL,
            CollectiveKind.BARRIER);

    private static boolean reduces(CollectiveKind kind) {
        return kind == CollectiveKind.ALL_REDUCE
                || kind == CollectiveKind.REDUCE_SCATTER
                || kind == CollectiveKind.REDUCE;
    }

    private static boolean hasRoot(CollectiveKind kind) {
        return switch (kind) {
            case BROADCAST, REDUCE, GATHER, SCATTER -> true;
            default -> false;
        };
    }

    /** So of two kinds one, as if all of them stood in a ring: the long runs also have most ranks call the other one. */
    private static boolean follows(CollectiveKind other, CollectiveKind kind) {
        int distance = Math.floorMod(KINDS.indexOf(other) - KINDS.indexOf(kind), KINDS.size());
        return distance <= KINDS.size() / 2;
    }

    /** What most call, and what another calls, by what differs. */
    private static Map<What, List<What>> pairs(String different) {
        Map<What, List<What>> pairs = new LinkedHashMap<>();
        for (CollectiveKind kind : KINDS) {
            What what = What.of(kind);
            List<What> others = new ArrayList<>();
            switch (different) {
                case "kind" ->
                    KINDS.stream()
                            .filter(each -> each != kind && (Extent.isLong() || follows(each, kind)))
                            .map(What::of)
                            .forEach(others::add);
                case "count" -> {
                    if (kind != CollectiveKind.BARRIER) {
                        others.add(new What(kind, COUNT - 1, TYPE, what.operation, 0, Algorithm.AUTO));
                    }
                }
                case "type" -> {
                    if (kind != CollectiveKind.BARRIER) {
                        others.add(new What(kind, COUNT, ElementType.FLOAT32, what.operation, 0, Algorithm.AUTO));
                    }
                }
                case "operation" -> {
                    if (reduces(kind)) {
                        others.add(new What(kind, COUNT, TYPE, ReduceOperation.MAX, 0, Algorithm.AUTO));
                    }
                }
                case "root" -> {
                    if (hasRoot(kind)) {
                        others.add(new What(kind, COUNT, TYPE, what.operation, 1, Algorithm.AUTO));
                        others.add(new What(kind, COUNT, TYPE, what.operation, 2, Algorithm.AUTO));
                    }
                }
                default -> {
                    List<Algorithm> possible = List.copyOf(AlgorithmTable.possible(kind));
                    if (possible.size() > 1) {
                        what = new What(kind, COUNT, TYPE, what.operation, 0, possible.getFirst());
                        for (Algorithm other : possible.subList(1, possible.size())) {
                            others.add(new What(kind, COUNT, TYPE, what.operation, 0, other));
                        }
                    }
                }
            }
            if (!others.isEmpty()) {
                pairs.put(what, others);
            }
        }
        return pairs;
    }

    @ParameterizedTest
    @CsvSource({"kind", "count", "type", "operation", "root", "algorithm"})
    void everyRankGetsAnError(String different) {
        try (Ranks ranks = CollectiveCrossesTest.ranks("shm", RANKS)) {
            ranks.closeTeams();
            List<MemoryRegion> sources = ranks.each(rank -> ranks.region(rank, BUFFER_BYTES));
            List<MemoryRegion> targets = ranks.each(rank -> ranks.region(rank, BUFFER_BYTES));
            pairs(different)
                    .forEach((what, others) -> others.forEach(other -> {
                        List<Team> teams = ranks.formTeams(options -> options.scratchBytes(1 << 20)).stream()
                                .map(Patience::await)
                                .toList();
                        if (serves(teams.getFirst(), what, sources.getFirst(), targets.getFirst())
                                && serves(teams.getFirst(), other, sources.getFirst(), targets.getFirst())) {
                            callDifferently(what, other, teams, sources, targets);
                        }
                        teams.stream().map(Team::closeAsync).toList().forEach(Patience::await);
                    }));
        }
    }

    private void callDifferently(
            What what, What other, List<Team> teams, List<MemoryRegion> sources, List<MemoryRegion> targets) {
        int odd = random.nextInt(RANKS);
        List<@Nullable SluiceException> errors = call(rank -> callback ->
                (rank == odd ? other : what).call(teams.get(rank), sources.get(rank), targets.get(rank), callback));
        if (errors.contains(null)) {
            List<@Nullable SluiceException> later =
                    call(rank -> callback -> teams.get(rank).barrier(CollectiveOptions.defaults(), callback));
            for (int rank = 0; rank < RANKS; rank++) {
                errors.set(rank, errors.get(rank) == null ? later.get(rank) : errors.get(rank));
            }
        }
        assertThat(errors)
                .as("%s, but rank %d %s", what, odd, other)
                .allSatisfy(error -> assertThat(error).isInstanceOf(CollectiveMismatchException.class));
    }

    /** Where they run depends on the order in which they were prepared. */
    @Test
    void preparedOnesThatStartInAnotherOrderAreAnError() {
        try (Ranks ranks = Ranks.form("tcp", 2)) {
            List<List<PersistentCollective>> prepared = ranks.each(rank -> {
                CollectiveOperations<PersistentCollective> team =
                        ranks.team(rank).prepare();
                CollectiveCallback none = (called, error) -> {};
                CollectiveOptions options = CollectiveOptions.defaults();
                return List.of(team.barrier(options, none), team.barrier(options, none));
            });
            List<CompletableFuture<Void>> ended = ranks.startEach(
                    (rank, team, callback) -> prepared.get(rank).get(rank).start(callback));
            ended.forEach(each -> failure(each, CollectiveMismatchException.class));
        }
    }

    /** Calls on a rank. */
    private interface Calling {
        void call(CollectiveCallback callback);
    }

    /** Calls on all ranks, and waits for their errors. */
    private static List<@Nullable SluiceException> call(IntFunction<Calling> calls) {
        List<CompletableFuture<@Nullable SluiceException>> outcomes = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            CompletableFuture<@Nullable SluiceException> outcome = new CompletableFuture<>();
            try {
                calls.apply(rank).call((called, error) -> outcome.complete(error));
            } catch (SluiceException e) {
                outcome.complete(e);
            }
            outcomes.add(outcome);
        }
        List<@Nullable SluiceException> errors = new ArrayList<>();
        outcomes.forEach(outcome -> errors.add(await(outcome)));
        return errors;
    }
}
