package io.sluice.experts.cuda;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.cuda.GpuInfo;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.LowLatencyResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

/**
 * How long low-latency calls take on the machine's GPUs, one process a rank: {@code RANK RANKS FILE}, where rank 0 puts its address into
 * the file. Properties: {@code tokens}, {@code hidden}, {@code experts}, {@code topk}, {@code blocks} (a list) and {@code launches}. Times are
 * of the device, of calls that follow each other, the median of ten times as many as are given to it together; rows and sums are
 * compared with what they must be.
 */
final class GpuLowLatencyFigures {
    private static final int TOKENS = Integer.getInteger("tokens", 128);
    private static final int HIDDEN = Integer.getInteger("hidden", 7168);
    private static final int EXPERTS = Integer.getInteger("experts", 64);
    private static final int TOP_K = Integer.getInteger("topk", 8);
    private static final int LAUNCHES = Integer.getInteger("launches", 40);
    private static final int ROUNDS = 10;
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

    private GpuLowLatencyFigures(TransferEngine engine, Team team, String gpu) {
        this.engine = engine;
        this.own = engine.connect(engine.address()).join();
        this.team = team;
        this.gpu = gpu;
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

    private static short resultOf(int expert, int source, int token, int channel) {
        long seed = (expert * 1009L + source) * 1009 + token;
        int bits = (int) ((seed * 65_537 + channel) * 0x9E3779B97F4A7C15L >>> 40);
        return (short) (bits & 0x807F | (121 + (bits >>> 8 & 7)) << 7);
    }

    // ---- memory ----

    private MemoryRegion region(long bytes) {
        return engine.allocate(bytes, RegionOptions.readWrite().on(MemoryKind.CUDA, gpu));
    }

    private GpuExpertRanks.GpuBytes bytes(MemoryRegion region) {
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

    @SuppressWarnings("SystemOut")
    private void say(String format, Object... values) {
        if (rank == 0) {
            System.out.printf(format + "%n", values);
        }
    }

    private static void await(GpuExpertBuffer buffer, long number) {
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

    private static double median(List<Double> values) {
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    /** Steps of a call that follow each other; the median time of each, and of all together. */
    private double[] measure(GpuExpertBuffer buffer, DeviceClock clock, GpuDispatch numbered, LongSupplier... steps) {
        List<List<Double>> times = new ArrayList<>();
        for (int i = 0; i <= steps.length; i++) {
            times.add(new ArrayList<>());
        }
        // all together first, without marks between them
        for (int round = 0; round < ROUNDS; round++) {
            // all ranks are there when the first mark is passed
            run(steps);
            DeviceClock.Mark begin = clock.mark();
            for (int i = 0; i < LAUNCHES; i++) {
                run(steps);
            }
            DeviceClock.Mark end = clock.mark();
            await(buffer, numbered.start());
            times.getLast().add(clock.micros(begin, end) / LAUNCHES);
            clock.clear();
        }
        for (int round = 0; round < ROUNDS; round++) {
            run(steps);
            List<DeviceClock.Mark> marks = new ArrayList<>(List.of(clock.mark()));
            for (int i = 0; i < LAUNCHES; i++) {
                for (LongSupplier step : steps) {
                    step.getAsLong();
                    marks.add(clock.mark());
                }
            }
            await(buffer, numbered.start());
            for (int i = 1; i < marks.size(); i++) {
                times.get((i - 1) % steps.length).add(clock.micros(marks.get(i - 1), marks.get(i)));
            }
            clock.clear();
        }
        return times.stream().mapToDouble(GpuLowLatencyFigures::median).toArray();
    }

    private static void run(LongSupplier... steps) {
        for (LongSupplier step : steps) {
            step.getAsLong();
        }
    }

    private void run(int blocks) {
        ExpertOptions options = ExpertOptions.experts(EXPERTS)
                .hidden(HIDDEN)
                .maxTokensPerRank(TOKENS)
                .topK(TOP_K)
                .normalMode(false);
        GpuExpertBuffer buffer = GpuExpertBuffer.create(
                        team, gpu, GpuExpertOptions.of(options).withBlocks(blocks))
                .join();
        int ordinal = GpuInfo.all().stream().map(GpuInfo::id).toList().indexOf(gpu);
        DeviceClock clock = new DeviceClock(buffer.stream(), ordinal);
        say("%d blocks, times of the %s:", blocks, clock.isOfDevice() ? "device" : "host");
        for (DispatchFormat format : new DispatchFormat[] {DispatchFormat.FP8, DispatchFormat.BF16}) {
            GpuDispatch dispatch = buffer.lowLatency()
                    .prepareDispatch(
                            x, 0, choices, 0, TOKENS, DispatchOptions.defaults().withFormat(format));
            LowLatencyResult result = dispatch.result();
            await(buffer, dispatch.start());
            int rows = checkRows(result);
            MemoryRegion y = result.combineBuffer();
            fillResults(result, y);
            GpuCombine combine = buffer.lowLatency()
                    .prepareCombine(result, y, 0, choices, 0, weights, 0, out, 0, CombineOptions.defaults());
            double[] alone = measure(buffer, clock, dispatch, dispatch::startUnnumbered);
            double[] both = measure(buffer, clock, dispatch, dispatch::startUnnumbered, combine::startUnnumbered);
            double[] halves = measure(
                    buffer,
                    clock,
                    dispatch,
                    dispatch::startSendUnnumbered,
                    dispatch::startReceiveUnnumbered,
                    combine::startSendUnnumbered,
                    combine::startReceiveUnnumbered);
            checkRows(result);
            checkSums();
            say(
                    "  %-5s %5d rows  dispatch %6.1f us (marked %6.1f)  combine %6.1f  both %6.1f  halves %6.1f + %6.1f, %6.1f + %6.1f",
                    format, rows, alone[1], alone[0], both[1], both[2], halves[0], halves[1], halves[2], halves[3]);
            combine.close();
            dispatch.close();
        }
        buffer.closeAsync().join();
    }

    // ---- checking ----

    /** Checks each row of a result; returns how many there are. */
    private int checkRows(LowLatencyResult result) {
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

    private void fillResults(LowLatencyResult result, MemoryRegion y) {
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

    private void checkSums() {
        MemorySegment found = bytes(out).get();
        long[] chosen = choicesOf(rank);
        float[] weight = weightsOf(rank);
        for (int token = 0; token < TOKENS; token++) {
            for (int channel = 0; channel < HIDDEN; channel++) {
                float sum = 0;
                for (int k = 0; k < TOP_K; k++) {
                    int slot = token * TOP_K + k;
                    sum += weight[slot]
                            * Float.intBitsToFloat(resultOf((int) chosen[slot], rank, token, channel) << 16);
                }
                int bits = Float.floatToRawIntBits(sum);
                check(
                        found.getAtIndex(SHORT, (long) token * HIDDEN + channel)
                                == (short) (bits + 0x7FFF + (bits >>> 16 & 1) >>> 16),
                        "sum of token " + token + ", channel " + channel);
            }
        }
    }

    private static void check(boolean isRight, String what) {
        if (!isRight) {
            throw new AssertionError("wrong: " + what);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int rank = Integer.parseInt(arguments[0]);
        int size = Integer.parseInt(arguments[1]);
        Path file = Path.of(arguments[2]);
        List<GpuInfo> gpus = GpuInfo.all();
        String gpu = gpus.get(rank % gpus.size()).id();
        TransferEngine engine = TransferEngine.open(EngineOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
        if (rank == 0) {
            Path next = file.resolveSibling(file.getFileName() + ".next");
            Files.writeString(next, engine.address().toString());
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        }
        while (!Files.exists(file)) {
            Thread.sleep(20);
        }
        EngineAddress first = EngineAddress.parse(Files.readString(file));
        Team team = Team.form(engine, TeamOptions.rank(rank).of(size).rendezvous(first))
                .join();
        GpuLowLatencyFigures figures = new GpuLowLatencyFigures(engine, team, gpu);
        for (String blocks : System.getProperty("blocks", "128,64,32,16").split(",")) {
            figures.run(Integer.parseInt(blocks));
        }
        team.closeAsync().join();
        engine.closeAsync().join();
    }
}
