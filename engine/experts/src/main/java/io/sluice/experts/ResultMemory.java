package io.sluice.experts;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.sluice.FreeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Memory of a buffer for a result, which one dispatch uses after another. */
final class ResultMemory implements LowLatencyResult {
    private static final int FREE = 0;
    private static final int CALLED = 1;
    private static final int LIVE = 2;
    private static final int COMBINING = 3;
    private static final int LEAVING = 4;
    private static final int CACHE_LINE = 64;

    final MemorySegment tokensMemory;
    final MemorySegment scalesMemory;
    final MemorySegment countsMemory;
    final MemorySegment sourcesMemory;
    final MemorySegment rangesMemory;

    /** Where this rank's tokens went. */
    final Route route;

    /** The number of the dispatch that has brought the result; the loop's. */
    long dispatch;

    /** The slot of combine of each row, int32. */
    final MemorySegment slotsMemory;

    private final AtomicInteger state = new AtomicInteger(FREE);
    private final TransferEngine engine;
    private final LowLatencyLayout layout;
    private final MemoryRegion whole;
    private final MemoryRegion bf16Tokens;
    private final MemoryRegion fp8Tokens;
    private final Optional<MemoryRegion> scales;
    private final Optional<MemoryRegion> packedScales;
    private final MemoryRegion counts;
    private final MemoryRegion sources;
    private final MemoryRegion ranges;
    private volatile @Nullable MemoryRegion combineBuffer;
    private DispatchFormat format = DispatchFormat.BF16;
    private long at;

    ResultMemory(TransferEngine engine, LowLatencyLayout layout) {
        this.engine = engine;
        this.layout = layout;
        this.route = new Route(layout.localExperts * layout.ranks, layout.topK, layout.tokens);
        long rows = layout.rows();
        long small = (layout.localExperts + 1L) * (layout.ranks + 1L) * Long.BYTES + 8L * CACHE_LINE;
        this.whole = engine.allocate(layout.resultBytes() + small, RegionOptions.local());
        MemoryRegion tokens = next(rows * layout.hidden * Short.BYTES);
        this.bf16Tokens = tokens;
        this.fp8Tokens = tokens.slice(0, rows * layout.hidden);
        MemoryRegion allScales = next(rows * layout.scales() * Float.BYTES);
        this.scales = Optional.of(allScales);
        this.packedScales = Optional.of(
                allScales.slice(0, rows * (layout.hidden / DispatchCall.CHANNELS_OF_PACKED) * Integer.BYTES));
        this.counts = next((long) layout.localExperts * Integer.BYTES);
        this.sources = next(rows * Integer.BYTES);
        this.ranges = next((long) layout.localExperts * layout.ranks * Long.BYTES);
        this.slotsMemory = next(rows * Integer.BYTES).segment();
        this.tokensMemory = tokens.segment();
        this.scalesMemory = allScales.segment();
        this.countsMemory = counts.segment();
        this.sourcesMemory = sources.segment();
        this.rangesMemory = ranges.segment();
    }

    private MemoryRegion next(long bytes) {
        MemoryRegion part = whole.slice(at, bytes);
        at += (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
        return part;
    }

    // ---- states, on any thread ----

    /** Takes it for a dispatch; false if it is in use. */
    boolean take() {
        return state.compareAndSet(FREE, CALLED);
    }

    /** The dispatch has brought the result. */
    void arrived(DispatchFormat arrivedFormat) {
        format = arrivedFormat;
        state.set(LIVE);
    }

    /** There is no result. */
    void giveBack() {
        state.set(FREE);
    }

    /** Keeps it for a combine; false if there is no result, or a combine of it is under way. */
    boolean keep() {
        return state.compareAndSet(LIVE, COMBINING);
    }

    /** The combine has ended. */
    void letGo() {
        if (!state.compareAndSet(COMBINING, LIVE)) {
            state.compareAndSet(LEAVING, FREE);
        }
    }

    @Override
    public void close() {
        if (!state.compareAndSet(LIVE, FREE)) {
            state.compareAndSet(COMBINING, LEAVING);
        }
    }

    // ---- the result ----

    @Override
    public DispatchFormat format() {
        return format;
    }

    @Override
    public MemoryRegion tokens() {
        return format.isQuantised() ? fp8Tokens : bf16Tokens;
    }

    @Override
    public Optional<MemoryRegion> scales() {
        return switch (format) {
            case BF16 -> Optional.empty();
            case FP8, FP8_ROUNDED -> scales;
            case FP8_UE8M0 -> packedScales;
        };
    }

    @Override
    public MemoryRegion counts() {
        return counts;
    }

    @Override
    public MemoryRegion sources() {
        return sources;
    }

    @Override
    public MemoryRegion ranges() {
        return ranges;
    }

    @Override
    public int count(int localExpert) {
        return countsMemory.getAtIndex(ValueLayout.JAVA_INT, localExpert);
    }

    /** The rows of a local expert that came from a rank: the first shifted left by 32, or their number. */
    long range(int localExpert, int rank) {
        return rangesMemory.getAtIndex(ValueLayout.JAVA_LONG, (long) localExpert * layout.ranks + rank);
    }

    @Override
    public MemoryRegion combineBuffer() {
        MemoryRegion known = combineBuffer;
        return known == null ? allocateCombineBuffer() : known;
    }

    private synchronized MemoryRegion allocateCombineBuffer() {
        MemoryRegion known = combineBuffer;
        if (known == null) {
            long bytes = (long) layout.rows() * layout.hidden * Short.BYTES;
            FreeMemory.check("memory for the results of experts", bytes);
            known = engine.allocate(bytes, RegionOptions.local());
            combineBuffer = known;
        }
        return known;
    }

    /** Releases the memory. */
    CompletableFuture<Void> release() {
        MemoryRegion buffer = combineBuffer;
        return CompletableFuture.allOf(
                whole.close(), buffer == null ? CompletableFuture.completedFuture(null) : buffer.close());
    }
}
