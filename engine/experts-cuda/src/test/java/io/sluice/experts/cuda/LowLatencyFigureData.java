package io.sluice.experts.cuda;

import io.sluice.collectives.Team;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.CombineFormat;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.LowLatencyResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

/**
 * Tokens of low-latency calls in memory of a rank's GPU, which each rank can compute of every rank, and what must come of them. The
 * properties {@code tokens}, {@code hidden}, {@code experts} and {@code topk} say how many.
 */
final class LowLatencyFigureData {
    private static final int TOKENS = Integer.getInteger("tokens", 128);
    private static final int HIDDEN = Integer.getInteger("hidden", 7168);
    private static final int EXPERTS = Integer.getInteger("experts", 64);
    private static final int TOP_K = Integer.getInteger("topk", 8);
    private static final int POISON = 0xA5;
    // groups span eight powers of two: half of a step of 8/510 of them
    private static final float MOST_LOGFMT_ERROR = 0.0055f;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private final TransferEngine engine;
    private final Connection own;
    private final Team team;
    private final String gpu;
    private final int rank;
    private final MemoryRegion x;
    private final MemoryRegion choices;
    private final MemoryRegion weights;
    private final MemoryRegion out;

    LowLatencyFigureData(FigureRank of) {
        this.engine = of.engine();
        this.own = engine.connect(engine.address()).join();
        this.team = of.team();
        this.gpu = of.gpu();
        this.rank = team.rank();
        x = filled((long) TOKENS * HIDDEN * Short.BYTES, xOf(rank));
        choices = filled((long) TOKENS * TOP_K * Long.BYTES, MemorySegment.ofArray(choicesOf(rank)));
        weights = filled((long) TOKENS * TOP_K * Float.BYTES, MemorySegment.ofArray(weightsOf(rank)));
        out = region((long) TOKENS * HIDDEN * Short.BYTES);
    }

    // ---- what all ranks know ----

    private static MemorySegment xOf(int rank) {
        SplittableRandom random = new SplittableRandom(rank);
        short[] made = new short[TOKENS * HIDDEN];
        for (int i = 0; i < made.length; i++) {
            made[i] = (short) (Float.floatToRawIntBits((float) random.nextGaussian()) >>> 16);
        }
        return MemorySegment.ofArray(made);
    }

    private static long[] choicesOf(int rank) {
        SplittableRandom random = new SplittableRandom(100 + rank);
        long[] made = new long[TOKENS * TOP_K];
        for (int token = 0; token < TOKENS; token++) {
            int[] experts = new int[EXPERTS];
            Arrays.setAll(experts, i -> i);
            for (int k = 0; k < TOP_K; k++) {
                int other = k + random.nextInt(EXPERTS - k);
                int chosen = experts[other];
                experts[other] = experts[k];
                experts[k] = chosen;
                made[token * TOP_K + k] = chosen;
            }
        }
        return made;
    }

    private static float[] weightsOf(int rank) {
        SplittableRandom random = new SplittableRandom(200 + rank);
        float[] made = new float[TOKENS * TOP_K];
        for (int i = 0; i < made.length; i++) {
            made[i] = (float) random.nextDouble();
        }
        return made;
    }

    /** Below 1, so that LogFMT encodes it. */
    private static short resultOf(int expert, int source, int token, int channel) {
        long seed = (expert * 1009L + source) * 1009 + token;
        int bits = (int) ((seed * 65_537 + channel) * 0x9E3779B97F4A7C15L >>> 40);
        return (short) (bits & 0x807F | (119 + (bits >>> 8 & 7)) << 7);
    }

    // ---- memory ----

    MemoryRegion region(long bytes) {
        return engine.allocate(bytes, RegionOptions.readWrite().on(MemoryKind.CUDA, gpu));
    }

    GpuExpertRanks.GpuBytes bytes(MemoryRegion region) {
        return new GpuExpertRanks.GpuBytes(engine, own, region);
    }

    private MemoryRegion filled(long bytes, MemorySegment from) {
        MemoryRegion made = region(bytes);
        GpuExpertRanks.GpuBytes memory = bytes(made);
        memory.host().copyFrom(from);
        memory.put();
        return made;
    }

    // ---- calls ----

    /** A buffer for the tokens. */
    GpuExpertBuffer buffer(int blocks) {
        ExpertOptions options = ExpertOptions.experts(EXPERTS)
                .hidden(HIDDEN)
                .maxTokensPerRank(TOKENS)
                .topK(TOP_K)
                .normalMode(false);
        return GpuExpertBuffer.create(team, gpu, GpuExpertOptions.of(options).withBlocks(blocks))
                .join();
    }

    GpuDispatch dispatch(GpuExpertBuffer buffer, DispatchFormat format) {
        return buffer.lowLatency()
                .prepareDispatch(
                        x, 0, choices, 0, TOKENS, DispatchOptions.defaults().withFormat(format));
    }

    GpuCombine combine(GpuExpertBuffer buffer, LowLatencyResult result, MemoryRegion y) {
        return combine(buffer, result, y, CombineFormat.BF16);
    }

    GpuCombine combine(GpuExpertBuffer buffer, LowLatencyResult result, MemoryRegion y, CombineFormat format) {
        CombineOptions with = CombineOptions.defaults().withFormat(format);
        return buffer.lowLatency().prepareCombine(result, y, 0, choices, 0, weights, 0, out, 0, with);
    }

    /** Overwrites what the calls are to write. */
    void poison(LowLatencyResult result) {
        bytes(result.tokens()).fill(POISON);
        bytes(out).fill(POISON);
    }

    /** Waits on this thread for a call. */
    static void await(GpuExpertBuffer buffer, long number) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        buffer.onReached((wait, reached, error) -> {
                    wait.close();
                    if (error == null) {
                        end.complete(null);
                    } else {
                        end.completeExceptionally(error);
                    }
                })
                .arm(number);
        end.join();
    }

    // ---- checking ----

    /** Checks each row of a result; returns how many there are. */
    int checkRows(LowLatencyResult result) {
        MemorySegment ranges = bytes(result.ranges()).get();
        MemorySegment sources = bytes(result.sources()).get();
        MemorySegment rows = bytes(result.tokens()).get();
        MemorySegment scales = result.scales().map(each -> bytes(each).get()).orElse(MemorySegment.NULL);
        int local = EXPERTS / team.size();
        int most = TOKENS * team.size();
        int count = 0;
        for (int source = 0; source < team.size(); source++) {
            MemorySegment from = xOf(source);
            long[] chosen = choicesOf(source);
            for (int expert = 0; expert < local; expert++) {
                long range = ranges.getAtIndex(LONG, (long) expert * team.size() + source);
                for (int i = 0; i < (int) range; i++) {
                    long row = (long) expert * most + (range >>> 32) + i;
                    int token = sources.getAtIndex(INT, row);
                    check(isChosen(chosen, token, rank * local + expert), "token " + token + " in row " + row);
                    checkRow(from, token, rows, scales, row, most, expert);
                    count++;
                }
            }
        }
        return count;
    }

    private static boolean isChosen(long[] chosen, int token, int expert) {
        boolean found = false;
        for (int k = 0; k < TOP_K; k++) {
            found |= chosen[token * TOP_K + k] == expert;
        }
        return found;
    }

    private static void checkRow(
            MemorySegment x, int token, MemorySegment rows, MemorySegment scales, long row, int most, int expert) {
        if (scales.equals(MemorySegment.NULL)) {
            long bytes = HIDDEN * 2L;
            check(
                    MemorySegment.mismatch(x, token * bytes, (token + 1) * bytes, rows, row * bytes, (row + 1) * bytes)
                            < 0,
                    "row " + row);
            return;
        }
        for (int channel = 0; channel < HIDDEN; channel++) {
            long column = (long) expert * (HIDDEN / 128) + channel / 128;
            float scale = scales.getAtIndex(ValueLayout.JAVA_FLOAT, column * most + row % most);
            int code = rows.get(ValueLayout.JAVA_BYTE, row * HIDDEN + channel);
            int exponent = code >> 3 & 15;
            float magnitude = exponent == 0 ? (code & 7) * 0x1p-9f : Math.scalb(8 + (code & 7), exponent - 10);
            float value = (code < 0 ? -magnitude : magnitude) * scale;
            float wanted = Float.intBitsToFloat(x.getAtIndex(SHORT, (long) token * HIDDEN + channel) << 16);
            check(
                    Math.abs(value - wanted) <= Math.abs(wanted) * 0x1.1p-4f + scale * 0x1p-9f,
                    "row " + row + ", channel " + channel + ": " + value + ", not " + wanted);
        }
    }

    /** Puts what experts make of the rows of a result. */
    void fillResults(LowLatencyResult result, MemoryRegion y) {
        GpuExpertRanks.GpuBytes to = bytes(y);
        to.host().fill((byte) 0x7F);
        MemorySegment ranges = bytes(result.ranges()).get();
        MemorySegment sources = bytes(result.sources()).get();
        int local = EXPERTS / team.size();
        for (int expert = 0; expert < local; expert++) {
            for (int source = 0; source < team.size(); source++) {
                long range = ranges.getAtIndex(LONG, (long) expert * team.size() + source);
                for (int i = 0; i < (int) range; i++) {
                    long row = (long) expert * TOKENS * team.size() + (range >>> 32) + i;
                    int token = sources.getAtIndex(INT, row);
                    for (int channel = 0; channel < HIDDEN; channel++) {
                        to.host()
                                .setAtIndex(
                                        SHORT,
                                        row * HIDDEN + channel,
                                        resultOf(rank * local + expert, source, token, channel));
                    }
                }
            }
        }
        to.put();
    }

    /** Checks the sums of all tokens. */
    void checkSums() {
        checkSums(CombineFormat.BF16);
    }

    /** Checks the sums of all tokens; of LogFMT, that they are as near as half a step. */
    void checkSums(CombineFormat format) {
        MemorySegment found = bytes(out).get();
        long[] chosen = choicesOf(rank);
        float[] weight = weightsOf(rank);
        for (int token = 0; token < TOKENS; token++) {
            for (int channel = 0; channel < HIDDEN; channel++) {
                float sum = 0;
                float magnitude = 0;
                for (int k = 0; k < TOP_K; k++) {
                    int slot = token * TOP_K + k;
                    float value = Float.intBitsToFloat(resultOf((int) chosen[slot], rank, token, channel) << 16);
                    sum += weight[slot] * value;
                    magnitude += Math.abs(weight[slot] * value);
                }
                int bits = Float.floatToRawIntBits(sum);
                short rounded = (short) (bits + 0x7FFF + (bits >>> 16 & 1) >>> 16);
                short sumFound = found.getAtIndex(SHORT, (long) token * HIDDEN + channel);
                float difference = Math.abs(Float.intBitsToFloat(sumFound << 16) - sum);
                check(
                        format == CombineFormat.BF16
                                ? sumFound == rounded
                                : difference <= MOST_LOGFMT_ERROR * magnitude + Math.abs(sum) / (1 << 8),
                        "sum of token " + token + ", channel " + channel + " in " + format);
            }
        }
    }

    private static void check(boolean isRight, String what) {
        if (!isRight) {
            throw new AssertionError("wrong: " + what);
        }
    }
}
