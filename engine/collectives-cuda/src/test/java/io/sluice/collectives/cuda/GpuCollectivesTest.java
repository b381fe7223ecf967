package io.sluice.collectives.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every collective against a reference in Java, by messages, pushes and straight from memory to memory, of one to five ranks. */
class GpuCollectivesTest {
    private static final int BYTES = 24 << 10;
    private static final int OFFSET = 48;
    private static final int PUSH_BYTES = 64 << 10;
    private static final byte POISON = (byte) 0xA5;
    private static final GpuTeamOptions OPTIONS =
            GpuTeamOptions.defaults().withTimeout(Patience.BOUND).withBlocks(8).withPushBytes(0);

    /** What a collective does, given each rank's memory before it. */
    private interface Prepared {
        GpuCollective on(int rank, TeamRegion source, TeamRegion target);
    }

    private interface Expected {
        byte[] of(int rank, byte[] target, List<byte[]> sources);
    }

    private static byte[] random(Random random, int bytes) {
        byte[] made = new byte[bytes];
        random.nextBytes(made);
        return made;
    }

    /** Ranks with a source and a target each. */
    private static final class Memories implements AutoCloseable {
        private final GpuRanks ranks;
        private final List<TeamRegion> from;
        private final List<TeamRegion> to;
        private final List<GpuRanks.GpuBytes> sources = new ArrayList<>();
        private final List<GpuRanks.GpuBytes> targets = new ArrayList<>();

        Memories(int size, GpuTeamOptions options) {
            ranks = GpuRanks.form(size, options);
            from = ranks.share(BYTES);
            to = ranks.share(BYTES);
            for (int rank = 0; rank < size; rank++) {
                sources.add(ranks.bytes(rank, from.get(rank).local()));
                targets.add(ranks.bytes(rank, to.get(rank).local()));
            }
        }

        GpuTeam gpu(int rank) {
            return ranks.gpu(rank);
        }

        void check(String what, List<byte[]> given, Prepared prepared, Expected expected) {
            byte[] poison = new byte[BYTES];
            Arrays.fill(poison, POISON);
            List<GpuCollective> collectives = new ArrayList<>();
            for (int rank = 0; rank < ranks.size(); rank++) {
                sources.get(rank).put(given.get(rank));
                collectives.add(prepared.on(rank, from.get(rank), to.get(rank)));
            }
            // there are two sets of slots
            for (int run = 0; run < 2; run++) {
                targets.forEach(target -> target.put(poison));
                ranks.start(collectives).forEach(Patience::await);
                for (int rank = 0; rank < ranks.size(); rank++) {
                    byte[] wanted = expected.of(rank, poison.clone(), given);
                    assertThat(Arrays.mismatch(targets.get(rank).get(BYTES), wanted))
                            .as("first wrong byte of %s, run %d, rank %d of %d", what, run, rank, ranks.size())
                            .isEqualTo(-1);
                }
            }
        }

        @Override
        public void close() {
            ranks.close();
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"1, 8192", "3, 8192", "1, 8", "2, 8", "5, 8"})
    void copies_of_other_teams_come_where_they_belong(int size, int exchangeBytes) {
        copies_come_where_they_belong(size, exchangeBytes);
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource("5, 65536")
    void copies_of_five_come_where_they_belong(int size, int exchangeBytes) {
        copies_come_where_they_belong(size, exchangeBytes);
    }

    @ParameterizedTest
    @CsvSource({"2, 8192", "3, 8"})
    void copies_come_where_they_belong(int size, int exchangeBytes) {
        try (Memories memories = new Memories(size, OPTIONS.withExchangeBytes(exchangeBytes))) {
            Random random = new Random(size);
            List<byte[]> sources = new ArrayList<>();
            for (int i = 0; i < size; i++) {
                sources.add(random(random, BYTES));
            }
            for (int bytes : new int[] {0, 1, 7, 8, 160, 1000, 4099}) {
                boolean exchanges = (long) bytes * Math.max(1, size - 1) <= exchangeBytes;
                memories.check(
                        "all-gather of " + bytes,
                        sources,
                        (rank, from, to) -> made(memories.gpu(rank).allGather(from, 1, to, OFFSET, bytes), exchanges),
                        (rank, target, all) -> {
                            for (int i = 0; i < size; i++) {
                                System.arraycopy(all.get(i), 1, target, OFFSET + i * bytes, bytes);
                            }
                            return target;
                        });
                memories.check(
                        "all-to-all of " + bytes,
                        sources,
                        (rank, from, to) -> made(memories.gpu(rank).allToAll(from, 0, to, OFFSET, bytes), exchanges),
                        (rank, target, all) -> {
                            for (int i = 0; i < size; i++) {
                                System.arraycopy(all.get(i), rank * bytes, target, OFFSET + i * bytes, bytes);
                            }
                            return target;
                        });
                int root = size / 2;
                memories.check(
                        "broadcast of " + bytes,
                        sources,
                        (rank, from, to) ->
                                made(memories.gpu(rank).broadcast(from, 16, to, OFFSET, bytes, root), exchanges),
                        (rank, target, all) -> {
                            System.arraycopy(all.get(root), 16, target, OFFSET, bytes);
                            return target;
                        });
            }
            memories.ranks.start(barriers(memories.ranks)).forEach(Patience::await);
        }
    }

    private static List<GpuCollective> barriers(GpuRanks ranks) {
        List<GpuCollective> barriers = new ArrayList<>();
        for (int rank = 0; rank < ranks.size(); rank++) {
            barriers.add(ranks.gpu(rank).barrier());
        }
        return barriers;
    }

    private static GpuCollective made(GpuCollective collective, GpuAlgorithm algorithm) {
        assertThat(collective.algorithm()).isEqualTo(algorithm);
        return collective;
    }

    private static GpuCollective made(GpuCollective collective, boolean exchanges) {
        return made(collective, exchanges ? GpuAlgorithm.MESSAGES : GpuAlgorithm.DIRECT);
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"1, 8192", "3, 8192", "1, 8", "2, 8", "5, 8"})
    void reductions_of_other_teams_have_the_bits_of_the_reference(int size, int exchangeBytes) {
        reductions_have_the_bits_of_the_reference(size, exchangeBytes);
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource("5, 65536")
    void reductions_of_five_have_the_bits_of_the_reference(int size, int exchangeBytes) {
        reductions_have_the_bits_of_the_reference(size, exchangeBytes);
    }

    @ParameterizedTest
    @CsvSource({"2, 8192", "3, 8"})
    void reductions_have_the_bits_of_the_reference(int size, int exchangeBytes) {
        try (Memories memories = new Memories(size, OPTIONS.withExchangeBytes(exchangeBytes))) {
            Random random = new Random(31L * size);
            int each = 0;
            for (ElementType type : ElementType.values()) {
                for (ReduceOperation operation : ReduceOperation.values()) {
                    int count = new int[] {300, 1, 131, 0}[each++ % 4];
                    List<byte[]> sources = new ArrayList<>();
                    for (int i = 0; i < size; i++) {
                        sources.add(ReferenceReduction.elements(random, type, BYTES));
                    }
                    int bytes = count * type.bytes();
                    String what = operation + " of " + count + " " + type;
                    memories.check(
                            "all-reduce, " + what,
                            sources,
                            (rank, from, to) ->
                                    memories.gpu(rank).allReduce(from, 8, to, OFFSET, count, type, operation),
                            (rank, target, all) -> {
                                byte[] sum = ReferenceReduction.reduce(type, operation, all, 8, count);
                                System.arraycopy(sum, 0, target, OFFSET, bytes);
                                return target;
                            });
                    memories.check(
                            "reduce-scatter, " + what,
                            sources,
                            (rank, from, to) ->
                                    memories.gpu(rank).reduceScatter(from, 0, to, OFFSET, count, type, operation),
                            (rank, target, all) -> {
                                byte[] sum = ReferenceReduction.reduce(type, operation, all, rank * bytes, count);
                                System.arraycopy(sum, 0, target, OFFSET, bytes);
                                return target;
                            });
                    int root = size - 1;
                    memories.check(
                            "reduce, " + what,
                            sources,
                            (rank, from, to) ->
                                    memories.gpu(rank).reduce(from, 0, to, OFFSET, count, type, operation, root),
                            (rank, target, all) -> {
                                byte[] sum = ReferenceReduction.reduce(type, operation, all, 0, count);
                                System.arraycopy(sum, 0, target, OFFSET, rank == root ? bytes : 0);
                                return target;
                            });
                }
            }
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(ints = {1, 2, 4, 5})
    void pushed_reductions_of_other_teams_have_the_bits_of_the_reference(int size) {
        pushed_reductions_have_the_bits_of_the_reference(size);
    }

    /** Of all types, with vectors that are not full; blocks at no multiples of 16 bytes are not pushed, and come between. */
    @ParameterizedTest
    @ValueSource(ints = 3)
    void pushed_reductions_have_the_bits_of_the_reference(int size) {
        try (Memories memories = new Memories(size, OPTIONS.withExchangeBytes(8).withPushBytes(PUSH_BYTES))) {
            Random random = new Random(17L * size);
            int each = 0;
            for (ElementType type : ElementType.values()) {
                for (ReduceOperation operation : ReduceOperation.values()) {
                    int count = new int[] {304, 131, 16}[each++ % 3];
                    int bytes = count * type.bytes();
                    List<byte[]> sources = new ArrayList<>();
                    for (int i = 0; i < size; i++) {
                        sources.add(ReferenceReduction.elements(random, type, BYTES));
                    }
                    String what = operation + " of " + count + " " + type;
                    memories.check(
                            "pushed all-reduce, " + what,
                            sources,
                            (rank, from, to) -> made(
                                    memories.gpu(rank).allReduce(from, 16, to, OFFSET, count, type, operation),
                                    GpuAlgorithm.PUSHES),
                            (rank, target, all) -> {
                                byte[] sum = ReferenceReduction.reduce(type, operation, all, 16, count);
                                System.arraycopy(sum, 0, target, OFFSET, bytes);
                                return target;
                            });
                    memories.check(
                            "pushed reduce-scatter, " + what,
                            sources,
                            (rank, from, to) -> made(
                                    memories.gpu(rank).reduceScatter(from, 0, to, OFFSET, count, type, operation),
                                    bytes % 16 == 0 ? GpuAlgorithm.PUSHES : GpuAlgorithm.DIRECT),
                            (rank, target, all) -> {
                                byte[] sum = ReferenceReduction.reduce(type, operation, all, rank * bytes, count);
                                System.arraycopy(sum, 0, target, OFFSET, bytes);
                                return target;
                            });
                }
            }
        }
    }

    /** By what all ranks know: bytes, options and offsets, and not by where a rank has its memory. */
    @Test
    void middle_sizes_are_pushed() {
        GpuTeamOptions options = OPTIONS.withExchangeBytes(256).withPushBytes(1024);
        try (GpuRanks ranks = GpuRanks.form(3, options)) {
            TeamRegion region = ranks.share(BYTES).getFirst();
            GpuTeam gpu = ranks.gpu(0);
            // of 128 and 512 bytes for each of two others
            assertThat(sum(gpu, region, 0, 32)).isEqualTo(GpuAlgorithm.MESSAGES);
            assertThat(sum(gpu, region, 0, 33)).isEqualTo(GpuAlgorithm.PUSHES);
            assertThat(sum(gpu, region, 0, 128)).isEqualTo(GpuAlgorithm.PUSHES);
            assertThat(sum(gpu, region, 0, 129)).isEqualTo(GpuAlgorithm.DIRECT);
            assertThat(sum(gpu, region, 8, 100)).isEqualTo(GpuAlgorithm.DIRECT);
            assertThat(gpu.reduce(region, 0, region, 0, 100, ElementType.INT32, ReduceOperation.SUM, 1)
                            .algorithm())
                    .isEqualTo(GpuAlgorithm.DIRECT);
        }
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS.withPushBytes(2 << 20))) {
            TeamRegion region = ranks.share(2 << 20).getFirst();
            assertThat(sum(ranks.gpu(0), region, 0, (768 << 8) - 1)).isEqualTo(GpuAlgorithm.MESSAGES);
            assertThat(sum(ranks.gpu(0), region, 0, 768 << 8)).isEqualTo(GpuAlgorithm.PUSHES);
        }
    }

    private static GpuAlgorithm sum(GpuTeam gpu, TeamRegion region, long offset, int count) {
        return gpu.allReduce(region, offset, region, offset, count, ElementType.INT32, ReduceOperation.SUM)
                .algorithm();
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"2, 8, 0", "4, 65536, 0", "2, 8, 65536", "4, 8, 65536"})
    void in_place_and_many_started_at_once_in_other_teams(int size, int exchangeBytes, int pushBytes) {
        in_place_and_many_started_at_once(size, exchangeBytes, pushBytes);
    }

    @ParameterizedTest
    @CsvSource({"2, 65536, 0", "4, 8, 0", "3, 8, 65536"})
    void in_place_and_many_started_at_once(int size, int exchangeBytes, int pushBytes) {
        GpuTeamOptions options = OPTIONS.withExchangeBytes(exchangeBytes).withPushBytes(pushBytes);
        try (GpuRanks ranks = GpuRanks.form(size, options)) {
            int count = 1000;
            int runs = 40;
            List<TeamRegion> regions = ranks.share(BYTES);
            List<GpuCollective> collectives = new ArrayList<>();
            for (int rank = 0; rank < size; rank++) {
                byte[] ones = new byte[BYTES];
                for (int i = 0; i < count; i++) {
                    ones[8 * i] = (byte) 1;
                }
                ranks.bytes(rank, regions.get(rank).local()).put(ones);
                collectives.add(ranks.gpu(rank)
                        .allReduce(
                                regions.get(rank),
                                0,
                                regions.get(rank),
                                0,
                                count,
                                ElementType.INT64,
                                ReduceOperation.SUM));
            }
            List<CompletableFuture<Void>> ends = new ArrayList<>();
            for (int run = 0; run < runs; run++) {
                if (run % 3 == 0) {
                    ends.addAll(ranks.start(collectives));
                } else {
                    collectives.forEach(GpuCollective::startUnnumbered);
                }
            }
            ends.forEach(Patience::await);
            for (int rank = 0; rank < size; rank++) {
                assertThat(ranks.gpu(rank).stream().submitted()).isEqualTo(runs);
            }
            ranks.start(barriers(ranks)).forEach(Patience::await);
            long sum = 1;
            // each run multiplies by the number of ranks, modulo 2^64
            for (int run = 0; run < runs; run++) {
                sum *= size;
            }
            for (int rank = 0; rank < size; rank++) {
                byte[] bytes = ranks.bytes(rank, regions.get(rank).local()).get(8 * count);
                for (int i = 0; i < count; i++) {
                    assertThat(ReferenceReduction.longAt(bytes, 8 * i)).isEqualTo(sum);
                }
            }
        }
    }
}
