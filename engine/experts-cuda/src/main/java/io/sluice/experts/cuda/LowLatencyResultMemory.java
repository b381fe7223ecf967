package io.sluice.experts.cuda;

import io.sluice.cuda.PinnedBuffer;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.ExpertBufferClosedException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Memory of a buffer for a result, which one dispatch takes after another, and how far the calls with it are. The stream keeps their order
 * on the GPU.
 */
final class LowLatencyResultMemory {
    private final LowLatencyLayout layout;
    private final TransferEngine engine;
    private final RegionOptions kind;
    private final int index;
    private final OwnRegion whole;
    private final PinnedBuffer hostCounts;
    private final MemoryRegion bf16Tokens;
    private final MemoryRegion fp8Tokens;
    private final MemoryRegion scales;
    private final MemoryRegion counts;
    private final MemoryRegion sources;
    private final MemoryRegion ranges;
    // struct result
    private final MemorySegment structure =
            MemorySegment.ofArray(new long[(int) (LowLatencyLayout.RESULT.byteSize() / Long.BYTES)]);
    private final ResultState state = new ResultState();
    private @Nullable MemoryRegion combineBuffer;
    private boolean isReleased;
    // of the dispatch, or combine, that was sent last; of the thread that starts calls
    private long number;
    private long at;

    LowLatencyResultMemory(TransferEngine engine, String gpu, LowLatencyLayout layout, int index) {
        this.layout = layout;
        this.engine = engine;
        this.kind = RegionOptions.readWrite().on(MemoryKind.CUDA, gpu);
        this.index = index;
        long rows = layout.rows();
        long pairs = (long) layout.localExperts * layout.ranks;
        long slots = (long) layout.tokens * layout.topK;
        long scaleBytes = rows * layout.scales() * Float.BYTES;
        long[] lengths = {
            rows * layout.rowBytes(),
            scaleBytes,
            (long) layout.localExperts * Integer.BYTES,
            rows * Integer.BYTES,
            pairs * Long.BYTES,
            rows * Long.BYTES,
            // the twin looks one further
            (slots + 1) * Integer.BYTES
        };
        long bytes = 0;
        for (long length : lengths) {
            bytes += BufferLayout.align(length);
        }
        this.hostCounts = PinnedBuffer.allocate(gpu, (long) layout.localExperts * Integer.BYTES);
        OwnRegion own;
        try {
            own = new OwnRegion(engine, kind, bytes);
        } catch (RuntimeException | Error e) {
            hostCounts.close();
            throw e;
        }
        this.whole = own;
        this.bf16Tokens = next(0, lengths[0]);
        this.fp8Tokens = bf16Tokens.slice(0, rows * layout.hidden);
        this.scales = next(1, lengths[1]);
        this.counts = next(2, lengths[2]);
        this.sources = next(3, lengths[3]);
        this.ranges = next(4, lengths[4]);
        next(5, lengths[5]);
        next(6, lengths[6]);
        BufferLayout.putLong(structure, 7L * Long.BYTES, hostCounts.address());
    }

    /** Takes the next part for an address of {@code struct result}. */
    private MemoryRegion next(int word, long bytes) {
        MemoryRegion part = whole.slice(at, bytes);
        BufferLayout.putLong(structure, (long) word * Long.BYTES, whole.mapped().address() + at);
        at += BufferLayout.align(bytes);
        return part;
    }

    int index() {
        return index;
    }

    OwnRegion whole() {
        return whole;
    }

    PinnedBuffer hostCounts() {
        return hostCounts;
    }

    void putStructure(MemorySegment to) {
        to.copyFrom(structure);
    }

    // ---- how far it is ----

    ResultState state() {
        return state;
    }

    /** A dispatch, or combine, with a number is started; by the thread that starts calls. */
    void number(long started) {
        number = started;
    }

    /** Whether it has sent a dispatch, or combine, whose set the one with a number writes again. */
    boolean holds(int half, long next) {
        return state.isAt(half) && next - number >= 2;
    }

    // ---- the result ----

    MemoryRegion tokens(DispatchFormat format) {
        return format.isQuantised() ? fp8Tokens : bf16Tokens;
    }

    Optional<MemoryRegion> scales(DispatchFormat format) {
        int columns = layout.scaleColumns(format);
        return columns == 0
                ? Optional.empty()
                : Optional.of(
                        columns == layout.scales() ? scales : scales.slice(0, layout.rows() * columns * Integer.BYTES));
    }

    MemoryRegion counts() {
        return counts;
    }

    MemoryRegion sources() {
        return sources;
    }

    MemoryRegion ranges() {
        return ranges;
    }

    int count(int localExpert) {
        return hostCounts.segment().getAtIndex(ValueLayout.JAVA_INT, localExpert);
    }

    synchronized MemoryRegion combineBuffer() {
        if (isReleased) {
            throw new ExpertBufferClosedException("the expert buffer of the result is closed on this rank");
        }
        MemoryRegion known = combineBuffer;
        if (known == null) {
            known = engine.allocate(layout.rows() * layout.rowBytes(), kind);
            combineBuffer = known;
        }
        return known;
    }

    /** Releases the memory. */
    synchronized CompletableFuture<Void> release() {
        isReleased = true;
        MemoryRegion buffer = combineBuffer;
        hostCounts.close();
        return CompletableFuture.allOf(
                whole.close(),
                hostCounts.released(),
                buffer == null ? CompletableFuture.completedFuture(null) : buffer.close());
    }
}
