package io.sluice.collectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.testkit.Extent;
import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.PairwiseSample;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every method of a team with every type, operation, algorithm, count and number of ranks, on every transport: all pairs of
 * them in the short run, in the long one all of them. {@code sluice.test.seed} says which pairs meet.
 */
class CollectiveCrossesTest {
    private static final List<String> TRANSPORTS = List.of("shm", "tcp", "verbs", "reordering", "faulty");
    private static final int MOST_RANKS = 8;
    // about the number of ranks, small, a page, more than a message, and more than all messages under way
    private static final int COUNTS = 9;
    private static final long MANY_ELEMENTS = Extent.of(1 << 17, 1 << 20);
    private static final long MOST_ELEMENTS = Extent.of(1 << 19, 1 << 20);
    private static final long[] OFFSETS = {64, 77};
    private static final int MOST_ALGORITHMS = 6;
    private static final List<Cross.Called> REDUCING =
            Arrays.stream(Cross.Called.values()).filter(Cross.Called::reduces).toList();
    private static final List<Cross.Called> MOVING = Arrays.stream(Cross.Called.values())
            .filter(called -> !called.reduces())
            .toList();

    private final FuzzSeed seed = FuzzSeed.of("CollectiveCrossesTest");

    /** A cross and where it runs. */
    private record Placed(String transport, Cross cross) {}

    private static long count(int number, int size) {
        return switch (number) {
            case 0 -> 0;
            case 1 -> 1;
            case 2 -> size - 1;
            case 3 -> size + 1;
            case 4 -> 4;
            case 5 -> 256;
            case 6 -> 65_536;
            case 7 -> MANY_ELEMENTS - 1;
            default -> MOST_ELEMENTS + 1;
        };
    }

    /** Automatic, and those that serve the kind. */
    private static List<Algorithm> algorithms(Cross.Called called) {
        List<Algorithm> all = new ArrayList<>(List.of(Algorithm.AUTO));
        if (called != Cross.Called.SEND_AND_RECEIVE) {
            all.addAll(AlgorithmTable.possible(called.kind()));
        }
        return all;
    }

    /** All pairs, of those that reduce and of those that do not. */
    private List<Placed> sample() {
        List<Placed> sample = new ArrayList<>();
        for (List<Cross.Called> group : List.of(REDUCING, MOVING)) {
            boolean reducing = group.equals(REDUCING);
            int[] sizes = {
                group.size(),
                MOST_RANKS,
                COUNTS,
                ElementType.values().length,
                reducing ? ReduceOperation.values().length : 1,
                2,
                MOST_ALGORITHMS,
                TRANSPORTS.size(),
                2,
                reducing ? 2 : 1,
                OFFSETS.length
            };
            Random random = seed.random(reducing ? 1 : 2);
            for (int[] row : PairwiseSample.of(sizes, random)) {
                int size = row[1] + 1;
                Cross.Called called = group.get(row[0]);
                List<Algorithm> algorithms = algorithms(called);
                long count = count(row[2], size);
                if (!called.hasVector() && count > 256) {
                    // of all blocks together
                    count = Math.max(1, count / size);
                }
                sample.add(new Placed(
                        TRANSPORTS.get(row[7]),
                        new Cross(
                                called,
                                size,
                                count,
                                ElementType.values()[row[3]],
                                reducing ? ReduceOperation.values()[row[4]] : null,
                                row[5] == 1,
                                algorithms.get(row[6] % algorithms.size()),
                                row[8] == 1,
                                row[9] == 1,
                                OFFSETS[row[10]],
                                random.nextInt(size),
                                random.nextInt(Integer.MAX_VALUE))));
            }
        }
        return sample;
    }

    static Ranks ranks(String transport, int size) {
        return Ranks.form(
                transport, size, options -> options, engine -> engine.pollers(1).livenessTimeout(Patience.longBound()));
    }

    static void assumeAvailable(String transport) {
        assumeTrue(
                !transport.equals("verbs") || System.getProperty("sluice.verbs.library") != null,
                "there is no software adapter");
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp", "verbs", "reordering", "faulty"})
    void allPairs(String transport) {
        assumeAvailable(transport);
        List<Cross> crosses = sample().stream()
                .filter(placed -> placed.transport.equals(transport))
                .map(Placed::cross)
                .toList();
        assertThat(crosses).isNotEmpty();
        for (int size = 1; size <= MOST_RANKS; size++) {
            int ranks = size;
            run(
                    transport,
                    size,
                    crosses.stream().filter(cross -> cross.size() == ranks).toList());
        }
    }

    private static void run(String transport, int size, Iterable<Cross> crosses) {
        try (Ranks ranks = ranks(transport, size)) {
            for (Cross cross : crosses) {
                if (size > 1 || cross.called() != Cross.Called.SEND_AND_RECEIVE) {
                    CrossRun.runAndCheck(ranks, cross);
                }
            }
            Patience.awaitAll(
                    "the last barrier",
                    ranks.startEach((rank, team, callback) -> team.barrier(CollectiveOptions.defaults(), callback)));
        }
    }

    /** What one test of all crosses takes, for which it forms a team: one method's, of some of the counts. */
    private record Part(String transport, int ranks, Cross.Called called, int firstCount, int lastCount) {}

    /** The long counts are parts of their own, as each takes about as long as all the others. */
    static Stream<Part> parts() {
        int[][] counts = {{0, 6}, {7, 7}, {8, 8}};
        return TRANSPORTS.stream()
                .flatMap(transport -> IntStream.rangeClosed(1, MOST_RANKS)
                        .boxed()
                        .flatMap(ranks -> Arrays.stream(Cross.Called.values())
                                .filter(called -> ranks > 1 || called != Cross.Called.SEND_AND_RECEIVE)
                                .flatMap(called -> Arrays.stream(counts)
                                        .map(range -> new Part(transport, ranks, called, range[0], range[1])))));
    }

    @Tag("soak")
    @ParameterizedTest
    @MethodSource("parts")
    void all(Part part) {
        assumeAvailable(part.transport);
        run(part.transport, part.ranks, crosses(part));
    }

    /** With the long counts, operations and kinds of numbers go round. */
    private List<Cross> crosses(Part part) {
        Cross.Called called = part.called;
        List<Cross> all = new ArrayList<>();
        List<Cross> ofPart = new ArrayList<>();
        Random random = seed.random(part.ranks);
        for (int number = 0; number < COUNTS; number++) {
            boolean large = number >= 6;
            for (ElementType type : ElementType.values()) {
                for (Algorithm algorithm : algorithms(called)) {
                    for (boolean inPlace : new boolean[] {false, true}) {
                        for (@Nullable ReduceOperation operation : operations(called, large, all.size())) {
                            int index = all.size();
                            all.add(new Cross(
                                    called,
                                    part.ranks,
                                    count(number, part.ranks),
                                    type,
                                    operation,
                                    inPlace,
                                    algorithm,
                                    index % 2 == 0,
                                    index % 3 == 0,
                                    OFFSETS[index / 2 % 2],
                                    random.nextInt(part.ranks),
                                    random.nextInt(Integer.MAX_VALUE)));
                            if (number >= part.firstCount && number <= part.lastCount) {
                                ofPart.add(all.getLast());
                            }
                        }
                    }
                }
            }
        }
        return ofPart;
    }

    private static List<@Nullable ReduceOperation> operations(Cross.Called called, boolean large, int index) {
        if (!called.reduces()) {
            return Arrays.asList((ReduceOperation) null);
        }
        List<ReduceOperation> every = List.of(ReduceOperation.values());
        return large ? List.of(every.get(index % every.size())) : new ArrayList<>(every);
    }
}
