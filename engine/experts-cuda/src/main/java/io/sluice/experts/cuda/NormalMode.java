package io.sluice.experts.cuda;

import io.sluice.cuda.GpuKernel;
import io.sluice.cuda.GpuWork;
import io.sluice.cuda.KernelArguments;
import io.sluice.cuda.LaunchShape;
import io.sluice.cuda.MappedRegion;
import io.sluice.cuda.PinnedBuffer;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.ExpertBufferClosedException;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.TooManyLiveResultsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Checks calls of normal mode and prepares their launches. Any thread. */
final class NormalMode implements GpuNormalMode, GpuMode, CallOwner {
    /** Of a combine, a block's warps that send before they add. */
    static final int SENDERS = 8;

    private static final int CHANNELS_OF_PACKED_SCALES = 512;
    private static final int VECTOR = 16;
    private static final int NORMAL = 1;

    private final BufferCore core;
    private final NormalPlaces places;
    private final KernelModule kernels;
    private final PinnedBuffer summaries;
    private final GpuKernel layout;
    private final GpuKernel combine;
    private final Map<DispatchFormat, GpuKernel> dispatches = new EnumMap<>(DispatchFormat.class);
    private final Set<OwnRegion> regions = ConcurrentHashMap.newKeySet();
    private final Set<GpuNormalCall> calls = ConcurrentHashMap.newKeySet();
    private final Object slotsLock = new Object();
    private int takenSlots;
    private volatile int senders = SENDERS;
    private volatile boolean isClosed;

    /**
     * What the mode closes.
     *
     * @param kernels of {@code normal.cu}
     * @param summaries of {@link #summariesBytes}
     */
    record Parts(NormalPlaces places, KernelModule kernels, PinnedBuffer summaries) {}

    NormalMode(BufferCore core, Parts parts) {
        this.core = core;
        this.places = parts.places();
        this.kernels = parts.kernels();
        this.summaries = parts.summaries();
        this.layout = kernels.kernel("sluice_experts_normal_layout");
        this.combine = kernels.kernel("sluice_experts_normal_combine");
        for (DispatchFormat format : DispatchFormat.values()) {
            String name = format.name().toLowerCase(Locale.ROOT);
            dispatches.put(format, kernels.kernel("sluice_experts_normal_dispatch_" + name));
        }
    }

    /** How long the memory is in which the host is told of results. */
    static long summariesBytes(NormalPlaces places) {
        return NormalPlaces.SLOTS * places.summaryBytes();
    }

    /** For measurements. */
    void senders(int warps) {
        senders = warps;
    }

    // ---- layout ----

    @Override
    public GpuNormalLayout prepareLayout(MemoryRegion topkIdx, long topkIdxOffset, int tokens) {
        ensureOpen();
        if (tokens < 0 || tokens > places.maxTokens) {
            throw new IllegalArgumentException("a rank has 0 to " + places.maxTokens + " tokens, not " + tokens);
        }
        core.check(topkIdx, topkIdxOffset, (long) tokens * places.topK * Long.BYTES, Long.BYTES);
        return keeping(places.layoutBytes(), memory -> {
            try (Launch launch = new Launch(NormalPlaces.LAYOUT)) {
                launch.put(NormalPlaces.LAYOUT_CHOICES, topkIdx, topkIdxOffset);
                launch.put(NormalPlaces.LAYOUT_TO, memory);
                launch.putLong(NormalPlaces.LAYOUT_TOKENS, tokens);
                return opened(new GpuNormalLayout(
                        this,
                        launch.prepared(layout, places.ranks, NormalPlaces.LAYOUT_THREADS),
                        places,
                        memory,
                        tokens));
            }
        });
    }

    // ---- dispatch ----

    @Override
    public GpuNormalDispatch prepareDispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            GpuNormalLayout to,
            NormalOptions options) {
        ensureOpen();
        if (!to.isOf(this)) {
            throw new IllegalArgumentException("the layout is of another buffer");
        }
        check(options);
        int tokens = to.tokens();
        checkRows(x, xOffset, tokens);
        core.check(topkIdx, topkIdxOffset, (long) tokens * places.topK * Long.BYTES, Long.BYTES);
        core.check(weights, weightsOffset, (long) tokens * places.topK * Float.BYTES, Float.BYTES);
        int slot = takeSlot();
        try {
            return keeping(places.handleBytes(), memory -> {
                try (Launch launch = new Launch(NormalPlaces.DISPATCH)) {
                    launch.put(NormalPlaces.DISPATCH_CHOICES, topkIdx, topkIdxOffset);
                    launch.put(NormalPlaces.DISPATCH_WEIGHTS, weights, weightsOffset);
                    launch.put(NormalPlaces.DISPATCH_TO, to.memory());
                    return dispatch(launch, x, xOffset, new GpuNormalHandle(this, memory, tokens), to, slot, options);
                }
            });
        } catch (RuntimeException | Error e) {
            freeSlot(slot);
            throw e;
        }
    }

    @Override
    public GpuNormalDispatch prepareDispatchAgain(
            MemoryRegion x, long xOffset, GpuNormalHandle handle, NormalOptions options) {
        ensureOpen();
        handle.ensureUsable(this);
        check(options);
        checkRows(x, xOffset, handle.tokens());
        int slot = takeSlot();
        try (Launch launch = new Launch(NormalPlaces.DISPATCH)) {
            return dispatch(launch, x, xOffset, handle, null, slot, options);
        } catch (RuntimeException | Error e) {
            freeSlot(slot);
            throw e;
        }
    }

    private GpuNormalDispatch dispatch(
            Launch launch,
            MemoryRegion x,
            long xOffset,
            GpuNormalHandle handle,
            @Nullable GpuNormalLayout to,
            int slot,
            NormalOptions options) {
        long summary = slot * places.summaryBytes();
        launch.put(NormalPlaces.DISPATCH_X, x, xOffset);
        launch.put(NormalPlaces.DISPATCH_HANDLE, handle.memory());
        launch.putLong(NormalPlaces.DISPATCH_SUMMARY, summaries.address() + summary);
        launch.putLong(NormalPlaces.DISPATCH_PATIENCE, patience(options.timeout()));
        launch.putInt(NormalPlaces.DISPATCH_TOKENS, handle.tokens());
        launch.putInt(NormalPlaces.DISPATCH_SLOT, slot);
        launch.putInt(NormalPlaces.DISPATCH_WORST, options.worstTokens());
        launch.putInt(NormalPlaces.DISPATCH_ALIGNMENT, options.expertAlignment());
        GpuKernel kernel = Objects.requireNonNull(dispatches.get(options.format()));
        GpuNormalCall.Prepared prepared =
                launch.prepared(kernel, core.options().normalBlocks(), NormalPlaces.DISPATCH_THREADS);
        MemorySegment told = summaries.segment().asSlice(summary, places.summaryBytes());
        GpuNormalResult result =
                new GpuNormalResult(core, places, core.windows().local(), told, slot, options, to != null);
        return opened(new GpuNormalDispatch(this, prepared, result, handle, to));
    }

    private void check(NormalOptions options) {
        if (options.worstTokens() > places.capacity()) {
            throw new IllegalArgumentException(
                    "at most " + places.capacity() + " rows arrive, not " + options.worstTokens());
        }
        if (options.format() == DispatchFormat.FP8_UE8M0 && places.hidden % CHANNELS_OF_PACKED_SCALES != 0) {
            throw new IllegalArgumentException(options.format() + " needs a multiple of " + CHANNELS_OF_PACKED_SCALES
                    + " channels, not " + places.hidden);
        }
    }

    private int takeSlot() {
        synchronized (slotsLock) {
            for (int slot = 0; slot < NormalPlaces.SLOTS; slot++) {
                if ((takenSlots & 1 << slot) == 0) {
                    takenSlots |= 1 << slot;
                    return slot;
                }
            }
        }
        throw new TooManyLiveResultsException(NormalPlaces.SLOTS
                + " dispatches of normal mode are not closed, and there is no memory for another result");
    }

    @Override
    public void freeSlot(int slot) {
        synchronized (slotsLock) {
            takenSlots &= ~(1 << slot);
        }
    }

    // ---- combine ----

    @Override
    public GpuNormalCombine prepareCombine(
            GpuNormalHandle handle,
            MemoryRegion y,
            long yOffset,
            @Nullable MemoryRegion bias,
            long biasOffset,
            MemoryRegion out,
            long outOffset,
            @Nullable Duration timeout) {
        ensureOpen();
        handle.ensureUsable(this);
        if (timeout != null && !timeout.isPositive()) {
            throw new IllegalArgumentException("a time-out is positive, not " + timeout);
        }
        checkRows(y, yOffset, 0);
        checkRows(out, outOffset, handle.tokens());
        if (bias != null) {
            checkRows(bias, biasOffset, handle.tokens());
        }
        try (Launch launch = new Launch(NormalPlaces.COMBINE)) {
            if (bias != null) {
                launch.put(NormalPlaces.COMBINE_BIAS, bias, biasOffset);
            }
            launch.put(NormalPlaces.COMBINE_Y, y, yOffset);
            launch.put(NormalPlaces.COMBINE_OUT, out, outOffset);
            launch.put(NormalPlaces.COMBINE_HANDLE, handle.memory());
            // how many are needed the GPU knows alone
            launch.putLong(NormalPlaces.COMBINE_ROWS, (y.length() - yOffset) / places.rowBytes());
            launch.putLong(NormalPlaces.COMBINE_PATIENCE, patience(timeout));
            launch.putInt(NormalPlaces.COMBINE_TOKENS, handle.tokens());
            launch.putInt(NormalPlaces.COMBINE_SENDERS, senders);
            return opened(new GpuNormalCombine(
                    this,
                    launch.prepared(combine, core.options().normalBlocks(), NormalPlaces.COMBINE_THREADS),
                    handle));
        }
    }

    private void checkRows(MemoryRegion region, long offset, long rows) {
        core.check(region, offset, rows * places.rowBytes(), VECTOR);
    }

    private long patience(@Nullable Duration timeout) {
        return (timeout == null ? core.options().experts().timeout() : timeout).toNanos();
    }

    // ---- what all have ----

    private void ensureOpen() {
        core.ensureUsable();
        if (isClosed) {
            throw new ExpertBufferClosedException("the expert buffer of " + core.team() + " is closed on this rank");
        }
    }

    /** What a call is made of. Closed before it is prepared it lets regions go. */
    private final class Launch implements AutoCloseable {
        private final KernelArguments arguments;
        private final GpuWork.Builder work = core.work().uses(summaries);
        private final List<MappedRegion> used = new ArrayList<>();

        Launch(StructLayout what) {
            arguments = KernelArguments.of(what, NormalPlaces.NORMAL);
            places.put(core, arguments, NORMAL);
        }

        void putLong(long at, long value) {
            BufferLayout.putLong(arguments.value(0), at, value);
        }

        void putInt(long at, int value) {
            BufferLayout.putInt(arguments.value(0), at, value);
        }

        /** A region of the user's, leased as long as the call is open. */
        void put(long at, MemoryRegion region, long offset) {
            MappedRegion mapped = MappedRegion.of(region);
            used.add(mapped);
            work.uses(mapped);
            putLong(at, mapped.address() + offset);
        }

        void put(long at, OwnRegion region) {
            work.uses(region.mapped());
            putLong(at, region.mapped().address());
        }

        GpuNormalCall.Prepared prepared(GpuKernel kernel, int blocks, int threads) {
            work.launch(kernel, LaunchShape.of(blocks, threads), arguments);
            GpuNormalCall.Prepared prepared = new GpuNormalCall.Prepared(core, work.build(), List.copyOf(used));
            used.clear();
            return prepared;
        }

        @Override
        public void close() {
            used.forEach(MappedRegion::close);
        }
    }

    private <C extends GpuNormalCall> C opened(C call) {
        calls.add(call);
        if (isClosed) {
            call.close();
        }
        return call;
    }

    @Override
    public void closed(AutoCloseable call) {
        calls.remove(call);
    }

    /** Makes a call that has memory of its own. */
    private <T> T keeping(long bytes, Function<OwnRegion, T> make) {
        OwnRegion memory = new OwnRegion(
                core.team().engine(),
                RegionOptions.readOnly().on(MemoryKind.CUDA, core.stream().device()),
                bytes);
        regions.add(memory);
        try {
            // a close that did not find it has come before
            ensureOpen();
            return make.apply(memory);
        } catch (RuntimeException | Error e) {
            giveBack(memory);
            throw e;
        }
    }

    /** It is there until it is released, for a close to wait for. */
    @Override
    public void giveBack(OwnRegion memory) {
        memory.close().whenComplete((released, error) -> regions.remove(memory));
    }

    @Override
    public CompletableFuture<Void> close() {
        isClosed = true;
        // so that they keep no regions of the user's
        calls.forEach(GpuNormalCall::close);
        summaries.close();
        List<CompletableFuture<?>> parts = new ArrayList<>();
        regions.forEach(each -> parts.add(each.close()));
        parts.add(summaries.released());
        parts.add(kernels.close());
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new));
    }
}
