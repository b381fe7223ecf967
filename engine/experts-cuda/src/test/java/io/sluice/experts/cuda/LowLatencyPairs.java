package io.sluice.experts.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.experts.CombineFormat;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.ExpertCallback;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.ReceiveHook;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Ranks with a buffer in memory of GPUs and one in memory of the host, which get the same tokens: rows, scales, layouts and sums must have
 * the same bits. The host's shares no code with the kernels.
 */
final class LowLatencyPairs implements AutoCloseable {
    private static final byte POISON = (byte) 0xA5;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /** How the GPU's calls are made. */
    enum Form {
        CALL,
        HOOK,
        PREPARED,
        HALVES,
        GRAPH
    }

    /** Which experts tokens choose. */
    enum Choice {
        RANDOM,
        /** A third of them none. */
        MASKED,
        /** The first is the last expert, the others none. */
        ONE_EXPERT,
        NONE
    }

    final GpuExpertRanks ranks;
    private final ExpertOptions options;
    private final List<ExpertBuffer> hosts = new ArrayList<>();
    private final List<Rank> all = new ArrayList<>();
    private int round;
    // what experts make of tokens: themselves
    private boolean areOutputsTokens;

    /** A rank's memory. */
    final class Rank {
        final int rank;
        final MemoryRegion x = region((long) options.maxTokensPerRank() * rowBytes());
        final MemoryRegion choices = region(slots() * Long.BYTES);
        final MemoryRegion weights = region(slots() * Float.BYTES);
        final MemoryRegion out = region((long) options.maxTokensPerRank() * rowBytes());
        final MemoryRegion y = region((long) localExperts() * rowsOfExpert() * rowBytes());
        final GpuExpertRanks.GpuBytes xBytes;
        final GpuExpertRanks.GpuBytes choiceBytes;
        final GpuExpertRanks.GpuBytes weightBytes;
        final GpuExpertRanks.GpuBytes outBytes;
        final GpuExpertRanks.GpuBytes yBytes;
        private final Map<MemoryRegion, GpuExpertRanks.GpuBytes> results = new HashMap<>();
        final MemoryRegion hostOut;
        final MemoryRegion hostY;
        int tokens;

        Rank(int rank) {
            this.rank = rank;
            xBytes = ranks.bytes(rank, x);
            choiceBytes = ranks.bytes(rank, choices);
            weightBytes = ranks.bytes(rank, weights);
            outBytes = ranks.bytes(rank, out);
            yBytes = ranks.bytes(rank, y);
            hostOut = ranks.hostRegion(rank, out.length());
            hostY = ranks.hostRegion(rank, y.length());
        }

        private MemoryRegion region(long bytes) {
            return ranks.region(all.size(), bytes);
        }

        GpuExpertRanks.GpuBytes bytes(MemoryRegion result) {
            return results.computeIfAbsent(result, region -> ranks.bytes(rank, region));
        }

        GpuLowLatency gpu() {
            return ranks.buffer(rank).lowLatency();
        }

        GpuDispatch dispatch(DispatchFormat format) {
            return gpu().prepareDispatch(
                            x, 0, choices, 0, tokens, DispatchOptions.defaults().withFormat(format));
        }

        GpuCombine combine(LowLatencyResult result, MemoryRegion from) {
            return combine(result, from, CombineFormat.BF16);
        }

        GpuCombine combine(LowLatencyResult result, MemoryRegion from, CombineFormat format) {
            CombineOptions with = CombineOptions.defaults().withFormat(format);
            return gpu().prepareCombine(result, from, 0, choices, 0, weights, 0, out, 0, with);
        }
    }

    LowLatencyPairs(int size, ExpertOptions options) {
        this(Islands.one(size), options);
    }

    LowLatencyPairs(Islands islands, ExpertOptions options) {
        this.options = options.normalMode(false);
        this.ranks =
                GpuExpertRanks.form(islands, GpuExpertOptions.of(this.options).withBlocks(4));
        for (int rank = 0; rank < ranks.size(); rank++) {
            all.add(new Rank(rank));
        }
    }

    /** The host's buffers are made when they are first compared with. */
    private void createHosts() {
        List<CompletableFuture<ExpertBuffer>> forming = new ArrayList<>();
        all.forEach(rank -> forming.add(ExpertBuffer.create(ranks.team(rank.rank), options)));
        forming.forEach(each -> hosts.add(Patience.await(each)));
    }

    Rank rank(int rank) {
        return all.get(rank);
    }

    private int rowBytes() {
        return options.hidden() * Short.BYTES;
    }

    private long slots() {
        return (long) options.maxTokensPerRank() * options.topK();
    }

    private int localExperts() {
        return options.localExperts(ranks.size());
    }

    private int rowsOfExpert() {
        return ranks.size() * options.maxTokensPerRank();
    }

    // ---- inputs ----

    /** Draws tokens, choices and weights. */
    void draw(int[] tokens, Choice choice, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (Rank rank : all) {
            rank.tokens = tokens[rank.rank];
            MemorySegment x = rank.xBytes.host();
            for (long i = 0; i < x.byteSize() / Short.BYTES; i++) {
                boolean isWide = i / options.hidden() % 4 == 3;
                float value = isWide
                        ? Math.scalb((float) random.nextDouble() - 0.5f, random.nextInt(160) - 140)
                        : (float) random.nextGaussian();
                x.setAtIndex(SHORT, i, (short) (Float.floatToRawIntBits(value) >>> 16));
            }
            for (int token = 0; token < options.maxTokensPerRank(); token++) {
                draw(rank, token, choice, random);
            }
            rank.xBytes.put();
            rank.choiceBytes.put();
            rank.weightBytes.put();
        }
    }

    private void draw(Rank rank, int token, Choice choice, SplittableRandom random) {
        boolean[] isChosen = new boolean[options.experts()];
        for (int k = 0; k < options.topK(); k++) {
            long slot = (long) token * options.topK() + k;
            int expert;
            do {
                expert = random.nextInt(options.experts());
            } while (isChosen[expert]);
            isChosen[expert] = true;
            boolean isNone = choice == Choice.NONE
                    || (choice == Choice.MASKED && random.nextInt(3) == 0)
                    || (choice == Choice.ONE_EXPERT && k > 0);
            int chosen = choice == Choice.ONE_EXPERT ? options.experts() - 1 : expert;
            rank.choiceBytes.host().setAtIndex(LONG, slot, isNone ? -1 : chosen);
            rank.weightBytes.host().setAtIndex(ValueLayout.JAVA_FLOAT, slot, (float) random.nextDouble() - 0.25f);
        }
    }

    /** Puts all finite numbers into the tokens of rank 0, one after the other or in another order. */
    void fillFinite(int stride) {
        Rank rank = all.getFirst();
        MemorySegment x = rank.xBytes.host();
        for (int i = 0; i < x.byteSize() / Short.BYTES; i++) {
            int bits = i * stride & 0xFFFF;
            // not those of infinity and NaN
            x.setAtIndex(SHORT, i, (short) ((bits & 0x7F80) == 0x7F80 ? bits & 0x807F : bits));
        }
        rank.xBytes.put();
        areOutputsTokens = true;
    }

    // ---- a round ----

    void check(String what, DispatchFormat format, Form form) {
        check(what, format, form, CombineFormat.BF16);
    }

    /** Dispatches and combines what was drawn, on GPUs and in memory of the host, and compares. */
    void check(String what, DispatchFormat format, Form form, CombineFormat combined) {
        round++;
        CombineOptions with = CombineOptions.defaults().withFormat(combined);
        ExpertOutputs outputs = combined == CombineFormat.LOGFMT ? ExpertOutputs.OF_ALL_SIZES : ExpertOutputs.NEAR_ONE;
        if (hosts.isEmpty()) {
            createHosts();
        }
        List<LowLatencyResult> expected = each(rank -> future(callback -> hosts.get(rank.rank)
                .lowLatencyDispatch(
                        rank.xBytes.region(),
                        0,
                        rank.choiceBytes.region(),
                        0,
                        rank.tokens,
                        DispatchOptions.defaults().withFormat(format),
                        callback)));
        List<AutoCloseable> prepared = new ArrayList<>();
        List<LowLatencyResult> found = dispatch(format, form, prepared);
        for (Rank rank : all) {
            compare(what, rank, format, expected.get(rank.rank), found.get(rank.rank));
        }
        boolean hasBuffer = round % 2 == 0;
        for (Rank rank : all) {
            LowLatencyResult result = found.get(rank.rank);
            GpuExpertRanks.GpuBytes y = hasBuffer ? rank.bytes(result.combineBuffer()) : rank.yBytes;
            fillResults(
                    rank,
                    rank.bytes(result.ranges()).host(),
                    rank.bytes(result.sources()).host(),
                    y.host(),
                    round,
                    outputs);
            y.put();
            LowLatencyResult host = expected.get(rank.rank);
            fillResults(rank, host.ranges().segment(), host.sources().segment(), rank.hostY.segment(), round, outputs);
            rank.outBytes.fill(POISON);
            rank.hostOut.segment().fill(POISON);
        }
        each(rank -> this.<MemoryRegion>future(callback -> hosts.get(rank.rank)
                .lowLatencyCombine(
                        expected.get(rank.rank),
                        rank.hostY,
                        0,
                        rank.choiceBytes.region(),
                        0,
                        rank.weightBytes.region(),
                        0,
                        rank.hostOut,
                        0,
                        with,
                        callback)));
        combine(found, hasBuffer, form, with, prepared);
        for (Rank rank : all) {
            assertThat(rank.outBytes.get().mismatch(rank.hostOut.segment()))
                    .as("%s: first wrong byte of the sums of rank %d", what, rank.rank)
                    .isEqualTo(-1);
            expected.get(rank.rank).close();
            found.get(rank.rank).close();
        }
        prepared.forEach(LowLatencyPairs::close);
    }

    private static void close(AutoCloseable each) {
        try {
            each.close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Dispatches what a rank has drawn; what refuses it at once is the future's error, too. */
    CompletableFuture<LowLatencyResult> dispatch(int rank, DispatchFormat format) {
        Rank on = rank(rank);
        DispatchOptions with = DispatchOptions.defaults().withFormat(format);
        try {
            return future(callback -> on.gpu().lowLatencyDispatch(on.x, 0, on.choices, 0, on.tokens, with, callback));
        } catch (SluiceException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private List<LowLatencyResult> dispatch(DispatchFormat format, Form form, List<AutoCloseable> prepared) {
        DispatchOptions with = DispatchOptions.defaults().withFormat(format);
        return switch (form) {
            case CALL ->
                each(rank -> future(callback ->
                        rank.gpu().lowLatencyDispatch(rank.x, 0, rank.choices, 0, rank.tokens, with, callback)));
            case HOOK -> {
                List<ReceiveHook<LowLatencyResult>> hooks = each(rank -> future(callback ->
                        rank.gpu().lowLatencyDispatchHooked(rank.x, 0, rank.choices, 0, rank.tokens, with, callback)));
                // the inputs may change
                all.forEach(rank -> poison(rank.x, rank.xBytes));
                List<LowLatencyResult> results = each(rank -> future(hooks.get(rank.rank)::complete));
                all.forEach(rank -> rank.xBytes.put());
                yield results;
            }
            case PREPARED, HALVES, GRAPH -> {
                List<LowLatencyResult> results = new ArrayList<>();
                List<GpuDispatch> dispatches = new ArrayList<>();
                for (Rank rank : all) {
                    GpuDispatch dispatch = rank.dispatch(format);
                    LowLatencyResult result = dispatch.result();
                    rank.bytes(result.tokens()).fill(POISON);
                    result.scales().ifPresent(scales -> rank.bytes(scales).fill(POISON));
                    rank.bytes(result.sources()).fill(POISON);
                    dispatches.add(dispatch);
                    results.add(result);
                }
                if (form == Form.PREPARED) {
                    // twice: the second has the same result
                    ranks.run(rank -> dispatches.get(rank)::start);
                    ranks.run(rank -> dispatches.get(rank)::start);
                } else if (form == Form.GRAPH) {
                    List<GpuExpertGraph> graphs = new ArrayList<>();
                    for (Rank rank : all) {
                        GpuDispatch dispatch = dispatches.get(rank.rank);
                        graphs.add(ranks.buffer(rank.rank)
                                .graph()
                                .call(dispatch)
                                .call(dispatch)
                                .build());
                    }
                    ranks.run(rank -> graphs.get(rank)::start);
                    ranks.run(rank -> graphs.get(rank)::start);
                    prepared.addAll(graphs);
                } else {
                    ranks.run(rank -> dispatches.get(rank)::startSend);
                    ranks.run(rank -> dispatches.get(rank)::startReceive);
                }
                prepared.addAll(dispatches);
                yield results;
            }
        };
    }

    /** Fills memory of the GPU, and leaves that of the host as it is. */
    private void poison(MemoryRegion region, GpuExpertRanks.GpuBytes bytes) {
        byte[] before = bytes.host().toArray(ValueLayout.JAVA_BYTE);
        bytes.fill(POISON);
        MemorySegment.copy(before, 0, bytes.host(), ValueLayout.JAVA_BYTE, 0, before.length);
    }

    private void combine(
            List<LowLatencyResult> results,
            boolean hasBuffer,
            Form form,
            CombineOptions with,
            List<AutoCloseable> prepared) {
        List<MemoryRegion> from = new ArrayList<>();
        all.forEach(rank -> from.add(hasBuffer ? results.get(rank.rank).combineBuffer() : rank.y));
        switch (form) {
            case CALL ->
                each(rank -> this.<MemoryRegion>future(callback -> rank.gpu()
                        .lowLatencyCombine(
                                results.get(rank.rank),
                                from.get(rank.rank),
                                0,
                                rank.choices,
                                0,
                                rank.weights,
                                0,
                                rank.out,
                                0,
                                with,
                                callback)));
            case HOOK -> {
                List<ReceiveHook<MemoryRegion>> hooks = each(rank -> future(callback -> rank.gpu()
                        .lowLatencyCombineHooked(
                                results.get(rank.rank),
                                from.get(rank.rank),
                                0,
                                rank.choices,
                                0,
                                rank.weights,
                                0,
                                rank.out,
                                0,
                                with,
                                callback)));
                all.forEach(rank -> rank.bytes(from.get(rank.rank)).fill(POISON));
                each(rank -> future(hooks.get(rank.rank)::complete));
            }
            case PREPARED, HALVES, GRAPH -> {
                List<GpuCombine> combines = new ArrayList<>();
                all.forEach(
                        rank -> combines.add(rank.combine(results.get(rank.rank), from.get(rank.rank), with.format())));
                if (form == Form.PREPARED) {
                    ranks.run(rank -> combines.get(rank)::start);
                } else if (form == Form.GRAPH) {
                    List<GpuExpertGraph> graphs = new ArrayList<>();
                    all.forEach(rank -> graphs.add(ranks.buffer(rank.rank)
                            .graph()
                            .call(combines.get(rank.rank))
                            .build()));
                    ranks.run(rank -> graphs.get(rank)::start);
                    prepared.addAll(graphs);
                } else {
                    ranks.run(rank -> combines.get(rank)::startSend);
                    ranks.run(rank -> combines.get(rank)::startReceive);
                }
                prepared.addAll(combines);
            }
        }
    }

    // ---- comparing ----

    private void compare(
            String what, Rank rank, DispatchFormat format, LowLatencyResult expected, LowLatencyResult found) {
        String where = what + ", rank " + rank.rank;
        MemorySegment ranges = rank.bytes(found.ranges()).get();
        assertThat(ranges.mismatch(expected.ranges().segment()))
                .as(where + ": ranges")
                .isEqualTo(-1);
        assertThat(rank.bytes(found.counts()).get().mismatch(expected.counts().segment()))
                .as(where + ": counts")
                .isEqualTo(-1);
        MemorySegment foundSources = rank.bytes(found.sources()).get();
        MemorySegment expectedSources = expected.sources().segment();
        MemorySegment foundRows = rank.bytes(found.tokens()).get();
        MemorySegment expectedRows = expected.tokens().segment();
        MemorySegment foundScales =
                found.scales().map(scales -> rank.bytes(scales).get()).orElse(MemorySegment.NULL);
        MemorySegment expectedScales =
                expected.scales().map(MemoryRegion::segment).orElse(MemorySegment.NULL);
        long bytes = format.isQuantised() ? options.hidden() : rowBytes();
        for (int local = 0; local < localExperts(); local++) {
            assertThat(found.count(local)).as(where + ": count").isEqualTo(expected.count(local));
            for (int source = 0; source < ranks.size(); source++) {
                long range = ranges.getAtIndex(LONG, (long) local * ranks.size() + source);
                Map<Integer, Integer> rows = new HashMap<>();
                for (int i = 0; i < (int) range; i++) {
                    int row = local * rowsOfExpert() + (int) (range >>> 32) + i;
                    rows.put(expectedSources.getAtIndex(INT, row), row);
                }
                for (int i = 0; i < (int) range; i++) {
                    int row = local * rowsOfExpert() + (int) (range >>> 32) + i;
                    Integer other = rows.remove(foundSources.getAtIndex(INT, row));
                    assertThat(other)
                            .as("%s: row %d of expert %d is a token of rank %d", where, row, local, source)
                            .isNotNull();
                    assertThat(MemorySegment.mismatch(
                                    foundRows,
                                    row * bytes,
                                    (row + 1) * bytes,
                                    expectedRows,
                                    other * bytes,
                                    (other + 1) * bytes))
                            .as("%s: first wrong byte of row %d", where, row)
                            .isEqualTo(-1);
                    compareScales(where, format, foundScales, row, expectedScales, other);
                }
            }
        }
    }

    private void compareScales(
            String where, DispatchFormat format, MemorySegment found, int row, MemorySegment expected, int other) {
        int columns = columns(format);
        int rows = rowsOfExpert();
        for (int column = 0; column < columns; column++) {
            long of = ((long) row / rows * columns + column) * rows;
            assertThat(found.getAtIndex(INT, of + row % rows))
                    .as("%s: scale of row %d, column %d", where, row, column)
                    .isEqualTo(expected.getAtIndex(INT, of + other % rows));
        }
    }

    private int columns(DispatchFormat format) {
        return switch (format) {
            case BF16 -> 0;
            case FP8, FP8_ROUNDED -> options.hidden() / 128;
            case FP8_UE8M0 -> options.hidden() / 512;
        };
    }

    // ---- experts ----

    /** What experts make of rows: numbers near 1 that depend on expert, rank and token; rows that are not in use are NaN. */
    void fillResults(Rank rank, MemorySegment ranges, MemorySegment sources, MemorySegment y, int salt) {
        fillResults(rank, ranges, sources, y, salt, ExpertOutputs.NEAR_ONE);
    }

    private void fillResults(
            Rank rank, MemorySegment ranges, MemorySegment sources, MemorySegment y, int salt, ExpertOutputs outputs) {
        y.fill((byte) 0x7F);
        for (int local = 0; local < localExperts(); local++) {
            for (int source = 0; source < ranks.size(); source++) {
                long range = ranges.getAtIndex(LONG, (long) local * ranks.size() + source);
                for (int i = 0; i < (int) range; i++) {
                    long row = (long) local * rowsOfExpert() + (range >>> 32) + i;
                    int expert = rank.rank * localExperts() + local;
                    int token = sources.getAtIndex(INT, row);
                    for (int channel = 0; channel < options.hidden(); channel++) {
                        MemorySegment x = all.get(source).xBytes.host();
                        y.setAtIndex(
                                SHORT,
                                row * options.hidden() + channel,
                                areOutputsTokens
                                        ? x.getAtIndex(SHORT, (long) token * options.hidden() + channel)
                                        : outputs.of(expert, source, token, channel, salt));
                    }
                }
            }
        }
    }

    /** Checks the sums of a rank against their definition. */
    void checkSums(String what, Rank rank, MemorySegment out, int salt) {
        for (int token = 0; token < rank.tokens; token++) {
            for (int channel = 0; channel < options.hidden(); channel++) {
                float sum = 0;
                for (int k = 0; k < options.topK(); k++) {
                    long slot = (long) token * options.topK() + k;
                    int expert = (int) rank.choiceBytes.host().getAtIndex(LONG, slot);
                    if (expert >= 0) {
                        float weight = rank.weightBytes.host().getAtIndex(ValueLayout.JAVA_FLOAT, slot);
                        sum += weight
                                * Float.intBitsToFloat(
                                        ExpertOutputs.NEAR_ONE.of(expert, rank.rank, token, channel, salt)
                                                << Short.SIZE);
                    }
                }
                int bits = Float.floatToRawIntBits(sum);
                assertThat(out.getAtIndex(SHORT, (long) token * options.hidden() + channel))
                        .as("%s: token %d of rank %d, channel %d", what, token, rank.rank, channel)
                        .isEqualTo((short) (bits + 0x7FFF + (bits >>> 16 & 1) >>> 16));
            }
        }
    }

    /** How a call ends, also where it is refused at once. */
    <T> CompletableFuture<T> future(Consumer<ExpertCallback<T>> call) {
        CompletableFuture<T> end = new CompletableFuture<>();
        try {
            call.accept((result, error) -> {
                if (error != null) {
                    end.completeExceptionally(error);
                } else {
                    end.complete(result);
                }
            });
        } catch (SluiceException refused) {
            end.completeExceptionally(refused);
        }
        return end;
    }

    private <T> List<T> each(Function<Rank, CompletableFuture<T>> call) {
        List<CompletableFuture<T>> ends = new ArrayList<>();
        all.forEach(rank -> ends.add(call.apply(rank)));
        return ends.stream().map(Patience::await).toList();
    }

    @Override
    public void close() {
        List<CompletableFuture<Void>> closing = new ArrayList<>();
        hosts.forEach(host -> closing.add(host.closeAsync()));
        closing.forEach(Patience::await);
        ranks.close();
    }
}
