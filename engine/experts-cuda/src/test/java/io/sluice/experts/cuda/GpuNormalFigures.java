package io.sluice.experts.cuda;

import io.sluice.collectives.Team;
import io.sluice.cuda.GpuInfo;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SignalWait;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.NormalOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * How long normal mode takes on the machine's GPUs, one process a rank: {@code RANK RANKS FILE}, where rank 0 puts its address into the
 * file. Properties {@code tokens}, {@code hidden}, {@code topk}, {@code experts}, {@code blocks}, {@code senders} and {@code launches} have
 * other sizes than 4,096 tokens of 7,168 with 8 of 256 experts. Times are those of launches that follow each other, by the device's
 * clock. Bytes are counted as DeepEP does: what a rank receives, its own
 * tokens included. All rows and all sums are compared with what they must be.
 */
final class GpuNormalFigures {
    private static final int ROUNDS = 5;

    private final NormalFigureData data;
    private final TransferEngine engine;
    private final Connection self;
    private final Team team;
    private final String gpu;
    private final int rank;
    private final int launches = Integer.getInteger("launches", 60);
    private final MemoryRegion host;
    private final MemoryRegion x;
    private final MemoryRegion choices;
    private final MemoryRegion weights;
    private final MemoryRegion y;
    private final MemoryRegion out;
    private final long[] ownChoices;

    private GpuNormalFigures(NormalFigureData data, TransferEngine engine, Team team, String gpu) {
        this.data = data;
        this.engine = engine;
        this.self = engine.connect(engine.address()).join();
        this.team = team;
        this.gpu = gpu;
        this.rank = team.rank();
        this.ownChoices = data.choices(rank);
        long rowBytes = data.hidden() * 2L;
        long rows = (long) data.ranks() * data.tokens();
        host = engine.allocate(rows * rowBytes, RegionOptions.local());
        x = region(data.tokens() * rowBytes);
        choices = region((long) data.tokens() * data.topK() * 8);
        weights = region((long) data.tokens() * data.topK() * 4);
        y = region(rows * rowBytes);
        out = region(data.tokens() * rowBytes);
        IntStream.range(0, data.tokens()).parallel().forEach(i -> data.put(host.segment(), i, rank, i, -1));
        put(x);
        MemorySegment.copy(ownChoices, 0, host.segment(), ValueLayout.JAVA_LONG, 0, ownChoices.length);
        put(choices);
    }

    private MemoryRegion region(long bytes) {
        return engine.allocate(bytes, RegionOptions.readWrite().on(MemoryKind.CUDA, gpu));
    }

    private void put(MemoryRegion to) {
        move(to, true);
    }

    private MemorySegment get(MemoryRegion from) {
        move(from, false);
        return host.segment();
    }

    private void move(MemoryRegion region, boolean writes) {
        RemoteRegion remote = self.attach(region.descriptor()).join();
        CompletableFuture<Void> end = new CompletableFuture<>();
        if (writes) {
            self.write(host, 0, remote, 0, region.length(), TransferOptions.defaults(), (transfer, error) -> {
                end(end, error);
            });
        } else {
            self.read(host, 0, remote, 0, region.length(), TransferOptions.defaults(), (transfer, error) -> {
                end(end, error);
            });
        }
        end.join();
        self.detach(remote).join();
    }

    private static void end(CompletableFuture<Void> end, Throwable error) {
        if (error == null) {
            end.complete(null);
        } else {
            end.completeExceptionally(error);
        }
    }

    // ---- series ----

    /** Microseconds of a series, by the device's clock if there is one. Its first launch, in which the ranks meet, does not count. */
    private double series(GpuExpertBuffer buffer, DeviceClock clock, GpuNormalCall call, int count) {
        call.startUnnumbered();
        DeviceClock.Mark begin = clock.mark();
        long since = System.nanoTime();
        for (int i = 1; i < count; i++) {
            call.startUnnumbered();
        }
        long last = call.start();
        DeviceClock.Mark end = clock.mark();
        while (buffer.stream().reached() < last) {
            Thread.onSpinWait();
        }
        if (!clock.isOfDevice()) {
            return (System.nanoTime() - since) / 1e3;
        }
        // the event is recorded behind the number
        await(buffer, call);
        double micros = clock.micros(begin, end);
        clock.clear();
        return micros;
    }

    private void await(GpuExpertBuffer buffer, GpuNormalCall call) {
        long last = call.start();
        while (buffer.stream().reached() < last) {
            Thread.onSpinWait();
        }
    }

    /** Microseconds of one launch among many, the median of some series. */
    private double time(GpuExpertBuffer buffer, DeviceClock clock, GpuNormalCall call) {
        for (int i = 0; i < 3; i++) {
            await(buffer, call);
        }
        double[] times = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            times[i] = series(buffer, clock, call, launches) / launches;
        }
        Arrays.sort(times);
        ensureGood(buffer);
        return times[ROUNDS / 2];
    }

    /** Throws what a call has failed of. */
    private static void ensureGood(GpuExpertBuffer buffer) {
        CompletableFuture<Void> good = new CompletableFuture<>();
        SignalWait wait = buffer.onReached((armed, number, error) -> end(good, error));
        wait.arm(buffer.stream().submitted());
        good.join();
        wait.close();
    }

    @SuppressWarnings("SystemOut")
    private void say(int blocks, String what, double micros, double bytes) {
        if (rank == 0) {
            System.out.printf("%3d blocks  %-16s %8.1f us  %7.1f GB/s%n", blocks, what, micros, bytes / micros / 1e3);
        }
    }

    private void verify(String what, int count, IntPredicate isGood) {
        long bad = IntStream.range(0, count).parallel().filter(isGood.negate()).count();
        if (bad > 0) {
            throw new IllegalStateException(bad + " of " + count + " " + what + " of rank " + rank + " are wrong");
        }
    }

    /** What each row is. */
    private record Rows(int[] sources, int[] tokens) {}

    private Rows rows(GpuNormalResult result) {
        int[] sources = new int[result.received()];
        int[] tokens = new int[result.received()];
        MemorySegment found = get(result.sources());
        int row = 0;
        for (int source = 0; source < data.ranks(); source++) {
            long[] chosen = data.choices(source);
            for (int token = 0; token < data.tokens(); token++) {
                if (data.goesTo(chosen, token, rank)) {
                    if (found.getAtIndex(ValueLayout.JAVA_INT, row) != token) {
                        throw new IllegalStateException("row " + row + " is not token " + token + " of " + source);
                    }
                    sources[row] = source;
                    tokens[row++] = token;
                }
            }
        }
        if (row != sources.length) {
            throw new IllegalStateException(row + " rows were to arrive, not " + sources.length);
        }
        return new Rows(sources, tokens);
    }

    private void verify(GpuNormalResult result, Rows rows) {
        if (result.format() == DispatchFormat.BF16) {
            MemorySegment found = get(result.tokens());
            verify("rows", rows.sources().length, i -> data.isToken(found, i, rows.sources()[i], rows.tokens()[i]));
            return;
        }
        byte[] scales = get(result.scales().orElseThrow())
                .asSlice(0, (long) rows.sources().length * (data.hidden() / 128) * 4)
                .toArray(ValueLayout.JAVA_BYTE);
        MemorySegment copied = MemorySegment.ofArray(new float[scales.length / 4]);
        copied.copyFrom(MemorySegment.ofArray(scales));
        MemorySegment found = get(result.tokens());
        verify(
                "quantised rows",
                rows.sources().length,
                i -> data.isQuantised(found, copied, i, rows.sources()[i], rows.tokens()[i]));
    }

    // ---- all calls ----

    private void run(int blocks, int senders) {
        ExpertOptions options = ExpertOptions.experts(data.experts())
                .hidden(data.hidden())
                .maxTokensPerRank(data.tokens())
                .topK(data.topK())
                .lowLatency(false);
        GpuExpertBuffer buffer = GpuExpertBuffer.create(
                        team, gpu, GpuExpertOptions.of(options).withNormalBlocks(blocks))
                .join();
        DeviceClock clock =
                new DeviceClock(buffer.stream(), rank % GpuInfo.all().size());
        GpuNormalMode mode = buffer.normalMode();
        ((NormalMode) mode).senders(senders);
        GpuNormalLayout layout = mode.prepareLayout(choices, 0, data.tokens());
        say(blocks, "layout", time(buffer, clock, layout), 0);
        GpuNormalHandle handle = null;
        Rows rows = null;
        for (DispatchFormat format : new DispatchFormat[] {DispatchFormat.FP8, DispatchFormat.BF16}) {
            NormalOptions of = NormalOptions.defaults().withFormat(format);
            GpuNormalDispatch dispatch = mode.prepareDispatch(x, 0, choices, 0, weights, 0, layout, of);
            double micros = time(buffer, clock, dispatch);
            rows = rows(dispatch.result());
            verify(dispatch.result(), rows);
            double bytes = (double) rows.sources().length
                    * (format == DispatchFormat.BF16 ? data.hidden() * 2 : data.hidden() + data.hidden() / 128 * 4);
            say(blocks, format + " fresh", micros, bytes);
            GpuNormalDispatch again = mode.prepareDispatchAgain(x, 0, dispatch.handle(), of);
            micros = time(buffer, clock, again);
            verify(again.result(), rows);
            say(blocks, format + " cached", micros, bytes);
            again.close();
            dispatch.close();
            if (format == DispatchFormat.BF16) {
                handle = dispatch.handle();
            } else {
                dispatch.handle().close();
            }
        }
        combine(blocks, buffer, clock, mode, handle, rows);
        layout.close();
        buffer.closeAsync().join();
    }

    private void combine(
            int blocks,
            GpuExpertBuffer buffer,
            DeviceClock clock,
            GpuNormalMode mode,
            GpuNormalHandle handle,
            Rows rows) {
        int received = rows.sources().length;
        IntStream.range(0, received)
                .parallel()
                .forEach(i -> data.put(host.segment(), i, rows.sources()[i], rows.tokens()[i], rank));
        put(y);
        GpuNormalCombine combine = mode.prepareCombine(handle, y, 0, null, 0, out, 0, null);
        double micros = time(buffer, clock, combine);
        MemorySegment found = get(out);
        verify("sums", data.tokens(), i -> data.isSum(found, rank, i, ownChoices));
        say(blocks, "combine", micros, received * data.hidden() * 2.0);
        combine.close();
        handle.close();
    }

    public static void main(String[] arguments) throws Exception {
        try (FigureRank rank = FigureRank.of(arguments)) {
            NormalFigureData data = new NormalFigureData(
                    rank.team().size(),
                    Integer.getInteger("experts", 256),
                    Integer.getInteger("hidden", 7168),
                    Integer.getInteger("tokens", 4096),
                    Integer.getInteger("topk", 8));
            GpuNormalFigures figures = new GpuNormalFigures(data, rank.engine(), rank.team(), rank.gpu());
            for (String senders :
                    System.getProperty("senders", "" + NormalMode.SENDERS).split(",")) {
                rank.say("%s, %s sending warps a block", data, senders);
                for (String blocks :
                        System.getProperty("blocks", "24,8,12,16,20,32").split(",")) {
                    figures.run(Integer.parseInt(blocks), Integer.parseInt(senders));
                }
            }
        }
    }
}
