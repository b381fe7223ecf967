package io.sluice.experts.cuda;

import io.sluice.cuda.MappedRegion;
import io.sluice.cuda.PinnedBuffer;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.LowLatencyResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Memory of a buffer for a result, which one dispatch uses after another, and how far the calls with it are. The stream keeps their order
 * on the GPU.
 */
final class LowLatencyResultMemory implements LowLatencyResult {
    // what was started last with it
    private static final int FREE = 0;
    /** Nothing, or a combine in whole. */
    static final int IDLE = 1;

    static final int DISPATCH_SENT = 2;
    static final int DISPATCHED = 3;
    static final int COMBINE_SENT = 4;
    // a flag: it is free once the second half is started
    private static final int CLOSING = 8;

    private final LowLatencyLayout layout;
    private final TransferEngine engine;
    private final RegionOptions kind;
    private final int index;
    private final MemoryRegion whole;
    private final MappedRegion mapped;
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
    private @Nullable MemoryRegion combineBuffer;
    private DispatchFormat format = DispatchFormat.BF16;
    private int tokens;
    private final AtomicInteger phase = new AtomicInteger(FREE);
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
        try {
            this.whole = engine.allocate(bytes, kind);
        } catch (RuntimeException | Error e) {
            hostCounts.close();
            throw e;
        }
        this.mapped = MappedRegion.of(whole);
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
        BufferLayout.putLong(structure, (long) word * Long.BYTES, mapped.address() + at);
        at += BufferLayout.align(bytes);
        return part;
    }

    int index() {
        return index;
    }

    int tokensSent() {
        return tokens;
    }

    MappedRegion mapped() {
        return mapped;
    }

    PinnedBuffer hostCounts() {
        return hostCounts;
    }

    void putStructure(MemorySegment to) {
        to.copyFrom(structure);
    }

    // ---- how far it is ----

    /** Takes it for dispatches of one kind; false if it is live. Any thread. */
    boolean take(DispatchFormat dispatchFormat, int tokenCount) {
        if (!phase.compareAndSet(FREE, IDLE)) {
            return false;
        }
        format = dispatchFormat;
        tokens = tokenCount;
        return true;
    }

    boolean isLive() {
        int now = phase.get();
        return now != FREE && (now & CLOSING) == 0;
    }

    /** Whether it has sent a dispatch, or combine, whose set the one with a number writes again. */
    boolean holds(int half, long next) {
        return (phase.get() & ~CLOSING) == half && next - number >= 2;
    }

    /**
     * Goes on for a dispatch, before it is started.
     *
     * @return the phase before, for {@link #goBack}
     */
    int beginDispatch(int to, long next) {
        int now = phase.get();
        if ((now != IDLE && now != DISPATCHED) || !phase.compareAndSet(now, to)) {
            throw refused(now, "");
        }
        number = next;
        return now;
    }

    int beginCombine(int to, long next) {
        int now = phase.get();
        if (now != DISPATCHED || !phase.compareAndSet(now, to)) {
            throw refused(now, "there is no dispatch, or it was combined already");
        }
        number = next;
        return now;
    }

    private static IllegalStateException refused(int now, String whenIdle) {
        return new IllegalStateException(
                now == DISPATCH_SENT || now == COMBINE_SENT
                        ? "the second half of the call before was not started"
                        : now == IDLE ? whenIdle : "the result is closed");
    }

    /** Starting has failed. */
    void goBack(int from, int before) {
        phase.compareAndSet(from, before);
    }

    /** Goes on for a second half, before it is started. */
    int beginReceive(boolean isDispatch) {
        int now = phase.get();
        int half = isDispatch ? DISPATCH_SENT : COMBINE_SENT;
        int to = isDispatch ? DISPATCHED : IDLE;
        if (phase.compareAndSet(half, to) || phase.compareAndSet(half | CLOSING, FREE)) {
            return now;
        }
        throw new IllegalStateException("there is no first half, or its second half was started already");
    }

    /** Later work follows what was started in the stream; a half that is still to come keeps the memory. */
    @Override
    public void close() {
        for (; ; ) {
            int now = phase.get();
            boolean isHalf = now == DISPATCH_SENT || now == COMBINE_SENT;
            if ((now & CLOSING) != 0 || phase.compareAndSet(now, isHalf ? now | CLOSING : FREE)) {
                return;
            }
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
        int columns = layout.scaleColumns(format);
        return columns == 0
                ? Optional.empty()
                : Optional.of(
                        columns == layout.scales() ? scales : scales.slice(0, layout.rows() * columns * Integer.BYTES));
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

    /** As the GPU has stored it, in the host's memory. */
    @Override
    public int count(int localExpert) {
        return hostCounts.segment().getAtIndex(ValueLayout.JAVA_INT, localExpert);
    }

    @Override
    public synchronized MemoryRegion combineBuffer() {
        MemoryRegion known = combineBuffer;
        if (known == null) {
            known = engine.allocate(layout.rows() * layout.rowBytes(), kind);
            combineBuffer = known;
        }
        return known;
    }

    /** Releases the memory. */
    synchronized CompletableFuture<Void> release() {
        MemoryRegion buffer = combineBuffer;
        mapped.close();
        hostCounts.close();
        return CompletableFuture.allOf(
                mapped.released(),
                whole.close(),
                hostCounts.released(),
                buffer == null ? CompletableFuture.completedFuture(null) : buffer.close());
    }
}
