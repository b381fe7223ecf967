package io.sluice.collectives.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.reduce.TypeCode;
import io.sluice.testkit.FuzzSeed;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every plan for every rank, without any transfer. */
class PlansTest {
    private static final int MOST_RANKS = 8;
    private static final long CHUNK = 64;
    private static final long LARGE_CHUNK = 64 << 10;
    private static final long POISON = 0x5A5A_5A5A_5A5A_5A5AL;
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    private final Random random = FuzzSeed.of("PlansTest").random();

    /** The plan of a rank. */
    private interface Plans {
        Plan plan(Shape shape);
    }

    /** What a rank has or should have: the number at a place. */
    private interface Numbers {
        long at(int rank, long place);
    }

    private static long number(int rank, long place) {
        return (rank + 1) * 1_000_003L + place * 31;
    }

    private static long sum(int size, long place) {
        long sum = 0;
        for (int rank = 0; rank < size; rank++) {
            sum += number(rank, place);
        }
        return sum;
    }

    private static LongStream counts(int size) {
        return LongStream.of(0, 1, size - 1, size + 1, 4, 256).distinct();
    }

    private static MemorySegment numbers(long count) {
        MemorySegment memory = MemorySegment.ofArray(new byte[Math.toIntExact(count * Long.BYTES)]);
        for (long i = 0; i < count; i++) {
            memory.set(LONG, i * Long.BYTES, POISON);
        }
        return memory;
    }

    private static MemorySegment slice(MemorySegment memory, long place, long count) {
        return memory.asSlice(place * Long.BYTES, count * Long.BYTES);
    }

    /** The buffers of one rank, and what the target must be. */
    private record Rank(MemorySegment source, MemorySegment target, long[] expected) {}

    private void check(
            String what, int size, long chunk, boolean average, Plans plans, List<Rank> ranks, boolean inPlace) {
        for (boolean late : new boolean[] {false, true}) {
            List<MemorySegment> sources = new ArrayList<>();
            List<MemorySegment> targets = new ArrayList<>();
            List<Plan> all = new ArrayList<>();
            for (int rank = 0; rank < size; rank++) {
                Rank each = ranks.get(rank);
                // copies, as both ways of reading begin with the same
                MemorySegment source = MemorySegment.ofArray(each.source.toArray(ValueLayout.JAVA_BYTE));
                MemorySegment target = MemorySegment.ofArray(each.target.toArray(ValueLayout.JAVA_BYTE));
                sources.add(source);
                targets.add(inPlace && source.byteSize() == target.byteSize() ? source : target);
                all.add(plans.plan(new Shape(rank, size, chunk, inPlace, average)));
            }
            new PlanWorld(all, sources, targets, late, random).run();
            for (int rank = 0; rank < size; rank++) {
                assertThat(targets.get(rank).toArray(LONG))
                        .as("%s, rank %d of %d, in place %s, read late %s", what, rank, size, inPlace, late)
                        .isEqualTo(ranks.get(rank).expected);
            }
        }
    }

    /** Ranks whose target has as many numbers as their source. */
    private static List<Rank> ranks(int size, long count, Numbers before, Numbers after) {
        List<Rank> ranks = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            MemorySegment source = numbers(count);
            long[] expected = new long[(int) count];
            for (int i = 0; i < count; i++) {
                source.set(LONG, (long) i * Long.BYTES, before.at(rank, i));
                expected[i] = after.at(rank, i);
            }
            ranks.add(new Rank(source, numbers(count), expected));
        }
        return ranks;
    }

    private void checkAllReduce(int size, long count, long chunk) {
        for (boolean average : new boolean[] {false, true}) {
            for (boolean inPlace : new boolean[] {false, true}) {
                List<Rank> ranks =
                        ranks(size, count, PlansTest::number, (rank, place) -> sum(size, place) / (average ? size : 1));
                for (AllReduce each : ALL_REDUCES) {
                    check(
                            each.name + ", " + count,
                            size,
                            chunk,
                            average,
                            shape -> each.plan.of(shape, count),
                            ranks,
                            inPlace);
                }
            }
        }
    }

    /** The sum of floats depends on the order, so ranks that add in different orders differ. */
    @Test
    void allRanksHaveTheSameBitsInEveryRun() {
        long count = 50;
        for (AllReduce each : ALL_REDUCES) {
            for (int size = 1; size <= 2 * MOST_RANKS; size++) {
                List<MemorySegment> numbers = new ArrayList<>();
                for (int rank = 0; rank < size; rank++) {
                    MemorySegment source = numbers(count);
                    for (int i = 0; i < count; i++) {
                        source.set(DOUBLE, (long) i * Long.BYTES, Math.exp(random.nextGaussian() * 9));
                    }
                    numbers.add(source);
                }
                long[] first = null;
                for (int run = 0; run < 8; run++) {
                    boolean inPlace = run % 2 == 0;
                    List<MemorySegment> sources = new ArrayList<>();
                    List<MemorySegment> targets = new ArrayList<>();
                    List<Plan> plans = new ArrayList<>();
                    for (int rank = 0; rank < size; rank++) {
                        MemorySegment source =
                                MemorySegment.ofArray(numbers.get(rank).toArray(ValueLayout.JAVA_BYTE));
                        sources.add(source);
                        targets.add(inPlace ? source : numbers(count));
                        plans.add(each.plan.of(new Shape(rank, size, CHUNK, inPlace, true), count));
                    }
                    new PlanWorld(plans, sources, targets, run % 4 < 2, random, TypeCode.FLOAT64).run();
                    for (MemorySegment target : targets) {
                        long[] found = target.toArray(LONG);
                        first = first == null ? found : first;
                        assertThat(found).as("%s, %d ranks", each.name, size).isEqualTo(first);
                    }
                }
            }
        }
    }

    private record AllReduce(String name, AllReducePlans plan) {}

    private interface AllReducePlans {
        Plan of(Shape shape, long count);
    }

    private static final List<AllReduce> ALL_REDUCES = List.of(
            new AllReduce("ring", (shape, count) -> RingPlans.allReduce(shape, count, Long.BYTES)),
            new AllReduce("recursive doubling", (shape, count) -> DoublingPlans.allReduce(shape, count * Long.BYTES)),
            new AllReduce("Rabenseifner", (shape, count) -> HalvingPlans.allReduce(shape, count, Long.BYTES)),
            new AllReduce("flat", (shape, count) -> FlatPlans.allReduce(shape, count * Long.BYTES)));

    /** Else each message would be on its way alone. */
    @Test
    void recursiveDoublingSendsAllMessagesOfARoundBeforeItAwaitsOne() {
        int messages = 10;
        Plan plan = DoublingPlans.allReduce(new Shape(0, 2, CHUNK, false, false), messages * CHUNK);
        List<Step.Kind> kinds = IntStream.range(0, plan.size())
                .mapToObj(step -> plan.step(step).kind())
                .toList();
        assertThat(kinds.subList(0, messages)).containsOnly(Step.Kind.SEND);
        assertThat(kinds.subList(messages, kinds.size())).hasSize(messages).containsOnly(Step.Kind.REDUCE);
    }

    @Test
    void allReduceGivesTheSum() {
        for (int size = 1; size <= MOST_RANKS; size++) {
            int ranks = size;
            counts(size).forEach(count -> checkAllReduce(ranks, count, CHUNK));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {65_535, 65_536, 65_537})
    void allReduceOfManyNumbersGivesTheSum(long count) {
        checkAllReduce(2, count, LARGE_CHUNK);
        checkAllReduce(5, count, LARGE_CHUNK);
    }

    @Test
    void reduceScatterGivesEachRankItsBlock() {
        for (int size = 1; size <= MOST_RANKS; size++) {
            int ranks = size;
            counts(size).forEach(count -> {
                Blocks blocks = Blocks.of(
                        IntStream.range(0, ranks)
                                .mapToLong(rank -> count + rank % 3)
                                .toArray(),
                        Long.BYTES);
                List<Rank> all = new ArrayList<>();
                for (Rank whole : ranks(
                        ranks, blocks.total() / Long.BYTES, PlansTest::number, (rank, place) -> sum(ranks, place))) {
                    int rank = all.size();
                    long first = blocks.start(rank) / Long.BYTES;
                    long length = blocks.length(rank) / Long.BYTES;
                    long[] expected = new long[(int) length];
                    System.arraycopy(whole.expected, (int) first, expected, 0, expected.length);
                    all.add(new Rank(whole.source, numbers(length), expected));
                }
                check("ring", ranks, CHUNK, false, shape -> RingPlans.reduceScatter(shape, blocks), all, false);
                check("halving", ranks, CHUNK, false, shape -> HalvingPlans.reduceScatter(shape, blocks), all, false);
            });
        }
    }

    @Test
    void allGatherGivesAllBlocks() {
        for (int size = 1; size <= MOST_RANKS; size++) {
            int ranks = size;
            counts(size).forEach(count -> {
                Blocks blocks = Blocks.of(
                        IntStream.range(0, ranks)
                                .mapToLong(rank -> count + rank % 3)
                                .toArray(),
                        Long.BYTES);
                List<Rank> all = new ArrayList<>();
                long total = blocks.total() / Long.BYTES;
                for (Rank whole : ranks(ranks, total, (rank, place) -> place, (rank, place) -> place)) {
                    int rank = all.size();
                    all.add(new Rank(
                            slice(whole.source, blocks.start(rank) / Long.BYTES, blocks.length(rank) / Long.BYTES),
                            whole.target,
                            whole.expected));
                }
                check("ring", ranks, CHUNK, false, shape -> RingPlans.allGather(shape, blocks), all, false);
                check("Bruck", ranks, CHUNK, false, shape -> BruckPlans.allGather(shape, blocks), all, false);
                if (Integer.bitCount(ranks) == 1) {
                    check("doubling", ranks, CHUNK, false, shape -> DoublingPlans.allGather(shape, blocks), all, false);
                }
            });
        }
    }

    @Test
    void treesBroadcastAndReduceFromAndToEveryRoot() {
        for (int size = 1; size <= MOST_RANKS; size++) {
            int ranks = size;
            for (int root = 0; root < size; root++) {
                int at = root;
                counts(size).forEach(count -> {
                    List<Rank> sent = ranks(ranks, count, PlansTest::number, (rank, place) -> number(at, place));
                    check(
                            "broadcast from " + at,
                            ranks,
                            CHUNK,
                            false,
                            shape -> TreePlans.broadcast(shape, at, count * Long.BYTES),
                            sent,
                            true);
                    // messages of 16 KiB and more carry shares of it
                    check(
                            "spread from " + at,
                            ranks,
                            CHUNK,
                            false,
                            shape -> SpreadPlans.broadcast(shape, at, count, Long.BYTES),
                            sent,
                            true);
                    List<Rank> reduced = ranks(
                            ranks, count, PlansTest::number, (rank, place) -> rank == at ? sum(ranks, place) : POISON);
                    check(
                            "reduce to " + at,
                            ranks,
                            CHUNK,
                            false,
                            shape -> TreePlans.reduce(shape, at, count * Long.BYTES),
                            reduced,
                            false);
                });
            }
        }
    }

    @Test
    void blocksGoStraightToTheirRanks() {
        for (int size = 1; size <= MOST_RANKS; size++) {
            int ranks = size;
            counts(size).forEach(count -> {
                Blocks blocks = Blocks.equal(ranks, count * Long.BYTES);
                List<Rank> all = ranks(
                        ranks,
                        count * ranks,
                        PlansTest::number,
                        (rank, place) ->
                                number((int) (place / Math.max(1, count)), rank * count + place % Math.max(1, count)));
                for (boolean inPlace : new boolean[] {false, true}) {
                    check(
                            "direct",
                            ranks,
                            CHUNK,
                            false,
                            shape -> DirectPlans.allToAll(shape, blocks, blocks),
                            all,
                            inPlace);
                    check(
                            "pairwise",
                            ranks,
                            CHUNK,
                            false,
                            shape -> DirectPlans.pairwise(shape, blocks, blocks),
                            all,
                            inPlace);
                    check(
                            "Bruck",
                            ranks,
                            CHUNK,
                            false,
                            shape -> BruckPlans.allToAll(shape, count * Long.BYTES),
                            all,
                            inPlace);
                }
            });
        }
    }

    /** From each rank to each other a block of its own length; with more than a few ranks, not all at once. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 8, 19})
    void blocksOfDifferentLengthsGoPairwise(int size) {
        List<Rank> all = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            Blocks sent = blocksFrom(rank, size);
            Blocks received = blocksTo(rank, size);
            MemorySegment source = numbers(sent.total() / Long.BYTES);
            long[] expected = new long[(int) (received.total() / Long.BYTES)];
            for (int peer = 0; peer < size; peer++) {
                for (int i = 0; i < sent.length(peer) / Long.BYTES; i++) {
                    source.set(LONG, sent.start(peer) + (long) i * Long.BYTES, number(rank, peer * 1000L + i));
                }
                for (int i = 0; i < received.length(peer) / Long.BYTES; i++) {
                    expected[(int) (received.start(peer) / Long.BYTES) + i] = number(peer, rank * 1000L + i);
                }
            }
            all.add(new Rank(source, numbers(expected.length), expected));
        }
        check(
                "pairwise",
                size,
                CHUNK,
                false,
                shape -> DirectPlans.pairwise(shape, blocksFrom(shape.rank(), size), blocksTo(shape.rank(), size)),
                all,
                false);
    }

    private static Blocks blocksFrom(int rank, int size) {
        return Blocks.of(
                IntStream.range(0, size).mapToLong(peer -> rank * peer % 5 * 9L).toArray(), Long.BYTES);
    }

    private static Blocks blocksTo(int rank, int size) {
        return Blocks.of(
                IntStream.range(0, size).mapToLong(peer -> peer * rank % 5 * 9L).toArray(), Long.BYTES);
    }

    @Test
    void aLargeBroadcastIsSpreadInManyMessages() {
        long count = 200_003;
        for (int size : new int[] {2, 3, 6}) {
            int root = size - 1;
            check(
                    "spread",
                    size,
                    LARGE_CHUNK,
                    false,
                    shape -> SpreadPlans.broadcast(shape, root, count, Long.BYTES),
                    ranks(size, count, PlansTest::number, (rank, place) -> number(root, place)),
                    true);
        }
    }

    @Test
    void theRootGathersAndScattersBlocks() {
        for (int size = 1; size <= MOST_RANKS; size++) {
            int ranks = size;
            int root = size / 2;
            counts(size).forEach(count -> {
                Blocks blocks = Blocks.equal(ranks, count * Long.BYTES);
                List<Rank> gathered = new ArrayList<>();
                List<Rank> scattered = new ArrayList<>();
                for (Rank whole : ranks(ranks, count * ranks, (rank, place) -> place, (rank, place) -> place)) {
                    int rank = gathered.size();
                    MemorySegment block = slice(whole.source, rank * count, count);
                    boolean isRoot = rank == root;
                    gathered.add(
                            new Rank(block, isRoot ? whole.target : numbers(0), isRoot ? whole.expected : new long[0]));
                    scattered.add(new Rank(isRoot ? whole.source : numbers(0), numbers(count), block.toArray(LONG)));
                }
                check("gather", ranks, CHUNK, false, shape -> DirectPlans.gather(shape, root, blocks), gathered, false);
                check(
                        "scatter",
                        ranks,
                        CHUNK,
                        false,
                        shape -> DirectPlans.scatter(shape, root, blocks),
                        scattered,
                        false);
            });
        }
    }

    @Test
    void noRankLeavesABarrierThatAnotherHasNotEntered() {
        for (int size = 1; size <= 2 * MOST_RANKS; size++) {
            for (int absent = 0; absent < size; absent++) {
                boolean[][] knows = new boolean[size][size];
                List<Plan> plans = new ArrayList<>();
                for (int rank = 0; rank < size; rank++) {
                    plans.add(DoublingPlans.barrier(new Shape(rank, size, CHUNK, false, false)));
                    knows[rank][rank] = true;
                }
                // a message carries what its sender knows at the time: rounds are the same on all ranks
                for (int step = 0; step < plans.getFirst().size(); step += 2) {
                    boolean[][] before = IntStream.range(0, size)
                            .mapToObj(rank -> knows[rank].clone())
                            .toArray(boolean[][]::new);
                    for (int rank = 0; rank < size; rank++) {
                        int peer = plans.get(rank).step(step + 1).peer();
                        assertThat(plans.get(peer).step(step).peer()).isEqualTo(rank);
                        for (int other = 0; other < size; other++) {
                            knows[rank][other] |= before[peer][other];
                        }
                    }
                }
                for (boolean[] known : knows) {
                    assertThat(known[absent]).isTrue();
                }
            }
        }
    }
}
