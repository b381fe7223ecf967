package io.sluice.experts;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.SymmetricMemory;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** The calls of normal mode: checked on any thread, and run one after another on the loop. */
final class NormalMode implements BufferPart, NormalOperations {
    private static final int MOST_LIVE = 2;
    // and as many that are closed, which the loop has not seen yet
    private static final int RESULTS = 2 * MOST_LIVE;
    private static final int POOLED = 16;
    private static final int CHANNELS_OF_PACKED_SCALES = 512;

    private final BufferHost host;
    private final CommBackend backend;
    private final ExpertOptions options;
    private final BufferFigures figures;
    private final NormalMemory at;
    private final NormalCalls calls = new NormalCalls();
    private final AtomicReferenceArray<@Nullable NormalHandle> pool = new AtomicReferenceArray<>(POOLED);
    private final NormalRows[] results = new NormalRows[RESULTS];
    private final AtomicInteger live = new AtomicInteger();
    // the loop's
    private final SymmetricMemory memory;
    private final NormalRows.Segments[] segments = new NormalRows.Segments[NormalMemory.SLOTS];
    private final NormalLinks links;
    private final NormalSlots slots;
    private final NormalDispatch dispatch;
    private final NormalCombine combine;
    private @Nullable NormalCall current;

    /**
     * Creates it, on the loop.
     *
     * @param memory as long as {@link NormalMemory#bytes} says
     */
    NormalMode(
            BufferHost host,
            CommBackend backend,
            ExpertOptions options,
            SymmetricMemory memory,
            BufferFigures figures) {
        this.host = host;
        this.figures = figures;
        this.backend = backend;
        this.options = options;
        this.memory = memory;
        this.at = new NormalMemory(options, backend.ranks());
        for (int i = 0; i < RESULTS; i++) {
            results[i] = new NormalRows(at, this::submit, live::decrementAndGet);
        }
        for (int slot = 0; slot < segments.length; slot++) {
            segments[slot] = NormalRows.Segments.of(memory.segment(), at, slot);
        }
        this.links = new NormalLinks(host, backend, at, memory);
        this.slots = new NormalSlots(links);
        NormalSources sources = new NormalSources(backend, links);
        this.dispatch = new NormalDispatch(links, sources, slots, host.helpers());
        this.combine = new NormalCombine(links, sources, host.helpers());
    }

    // ---- any thread ----

    @Override
    public NormalLayout layout(MemoryRegion topkIdx, long topkIdxOffset, int tokens, @Nullable NormalLayout reuse) {
        NormalLayout layout =
                reuse == null ? new NormalLayout(at.ranks, at.experts, at.topK, at.maxTokens) : checkFits(reuse);
        layout.fill(topkIdx.segment(), topkIdxOffset, tokens);
        return layout;
    }

    private NormalLayout checkFits(NormalLayout layout) {
        if (!layout.fits(at.ranks, at.experts, at.topK, at.maxTokens)) {
            throw new IllegalArgumentException("the layout is of a buffer of another shape");
        }
        return layout;
    }

    @Override
    public void dispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            NormalLayout layout,
            NormalOptions dispatchOptions,
            ExpertCallback<NormalResult> callback) {
        Objects.requireNonNull(callback, "callback");
        host.check();
        checkFits(layout);
        check(dispatchOptions);
        long tokens = layout.tokens();
        checkRows(x, xOffset, tokens);
        MemorySegment choices = checkRange(topkIdx, topkIdxOffset, tokens * at.topK * Long.BYTES);
        MemorySegment factors = checkRange(weights, weightsOffset, tokens * at.topK * Float.BYTES);
        NormalRows rows = takeResult();
        NormalHandle handle = takeHandle();
        handle.open(layout);
        NormalDispatchCall call = rows.dispatch;
        call.set(x, xOffset, handle, dispatchOptions, callback);
        call.choices = choices;
        call.choicesOffset = topkIdxOffset;
        call.weights = factors;
        call.weightsOffset = weightsOffset;
        call.again = false;
        submit(call, dispatchOptions.timeout());
    }

    @Override
    public void dispatchAgain(
            MemoryRegion x,
            long xOffset,
            NormalHandle handle,
            NormalOptions dispatchOptions,
            ExpertCallback<NormalResult> callback) {
        Objects.requireNonNull(callback, "callback");
        host.check();
        check(dispatchOptions);
        acquire(handle);
        try {
            checkRows(x, xOffset, handle.tokens());
            if (dispatchOptions.worstTokens() > 0 && dispatchOptions.worstTokens() < handle.received()) {
                throw new IllegalArgumentException(handle.received() + " rows arrive, and the worst case is to be "
                        + dispatchOptions.worstTokens());
            }
            NormalDispatchCall call = takeResult().dispatch;
            call.set(x, xOffset, handle, dispatchOptions, callback);
            call.again = true;
            submit(call, dispatchOptions.timeout());
        } catch (RuntimeException | Error e) {
            handle.release();
            throw e;
        }
    }

    @Override
    public void combine(
            NormalHandle handle,
            MemoryRegion y,
            long yOffset,
            @Nullable MemoryRegion bias,
            long biasOffset,
            MemoryRegion out,
            long outOffset,
            @Nullable Duration timeout,
            ExpertCallback<MemoryRegion> callback) {
        Objects.requireNonNull(callback, "callback");
        host.check();
        acquire(handle);
        boolean called = false;
        try {
            checkRows(y, yOffset, handle.received());
            checkRows(out, outOffset, handle.tokens());
            if (bias != null) {
                checkRows(bias, biasOffset, handle.tokens());
            }
            handle.combine.call();
            called = true;
            handle.combine.set(y, yOffset, bias, biasOffset, out, outOffset, callback);
        } finally {
            if (!called) {
                handle.release();
            }
        }
        submit(handle.combine, timeout);
    }

    private void acquire(NormalHandle handle) {
        if (!handle.isOf(this)) {
            throw new IllegalArgumentException("the handle is of another buffer");
        }
        handle.acquire();
        if (!handle.isComplete()) {
            handle.release();
            throw new IllegalStateException("the dispatch of the handle has not ended");
        }
    }

    private void check(NormalOptions dispatchOptions) {
        if (dispatchOptions.worstTokens() > at.capacity()) {
            throw new IllegalArgumentException(
                    "at most " + at.capacity() + " rows arrive, not " + dispatchOptions.worstTokens());
        }
        DispatchFormat format = dispatchOptions.format();
        if (format == DispatchFormat.FP8_UE8M0 && at.hidden % CHANNELS_OF_PACKED_SCALES != 0) {
            throw new IllegalArgumentException(
                    format + " needs a multiple of " + CHANNELS_OF_PACKED_SCALES + " channels, not " + at.hidden);
        }
    }

    private void checkRows(MemoryRegion region, long offset, long rows) {
        Objects.requireNonNull(checkRange(region, offset, rows * at.rowBytes()));
    }

    private static MemorySegment checkRange(MemoryRegion region, long offset, long bytes) {
        Objects.checkFromIndexSize(offset, bytes, region.length());
        return region.segment();
    }

    private NormalRows takeResult() {
        if (live.incrementAndGet() > MOST_LIVE) {
            live.decrementAndGet();
            throw new TooManyLiveResultsException(
                    MOST_LIVE + " results of normal mode are not closed, and there is no memory for another one");
        }
        while (true) {
            for (NormalRows rows : results) {
                if (rows.take()) {
                    return rows;
                }
            }
            // the loop is about to take notice of one that was closed
            Thread.onSpinWait();
        }
    }

    private NormalHandle takeHandle() {
        for (int i = 0; i < POOLED; i++) {
            NormalHandle handle = pool.get(i);
            if (handle != null && pool.compareAndSet(i, handle, null)) {
                return handle;
            }
        }
        return new NormalHandle(this, at, this::pool);
    }

    /** Keeps a handle that is not used any more. */
    private void pool(NormalHandle handle) {
        for (int i = 0; i < POOLED; i++) {
            if (pool.compareAndSet(i, null, handle)) {
                return;
            }
        }
    }

    private void submit(NormalCall call, @Nullable Duration timeout) {
        call.times.called();
        call.deadline = System.nanoTime() + (timeout == null ? options.timeout() : timeout).toNanos();
        submit(call);
    }

    private void submit(NormalCall call) {
        calls.submit(call);
        host.signal();
    }

    // ---- the loop ----

    @Override
    public int advance(int budget) {
        takeSubmitted();
        int used = 0;
        while (used < budget && (current != null || begin())) {
            NormalCall call = Objects.requireNonNull(current);
            int did = advance(call, budget - used);
            used += did;
            if (!endIfDone(call)) {
                lookAfter(call, did == 0);
                break;
            }
        }
        return used;
    }

    private void takeSubmitted() {
        for (NormalCall call = calls.takeSubmitted(); call != null; ) {
            NormalCall following = call.next;
            if (call instanceof NormalRows.Closing closing) {
                slots.free(closing.slot());
                closing.end(null);
            } else {
                calls.add(call);
            }
            call = following;
        }
    }

    private boolean begin() {
        NormalCall call = calls.take();
        if (call == null) {
            return false;
        }
        current = call;
        call.times.begins();
        if (call instanceof NormalDispatchCall dispatched) {
            dispatch.begin(dispatched);
        } else if (call instanceof NormalCombineCall combined) {
            combine.begin(combined);
        }
        return true;
    }

    private int advance(NormalCall call, int budget) {
        long since = System.nanoTime();
        int did = call instanceof NormalDispatchCall ? dispatch.advance(budget) : combine.advance(budget);
        if (did > 0) {
            call.times.moved(since);
            call.times.arrived(figures);
        }
        return did;
    }

    private boolean endIfDone(NormalCall call) {
        if (call instanceof NormalDispatchCall ? !dispatch.isDone() : !combine.isDone()) {
            return false;
        }
        current = null;
        NormalCall done = call instanceof NormalDispatchCall ? dispatch.finish(segments) : combine.finish();
        end(done, null);
        return true;
    }

    private void end(NormalCall call, @Nullable SluiceException error) {
        if (call instanceof NormalDispatchCall dispatched) {
            call.times.ended(ExpertCallKind.DISPATCH, figures, error);
            if (error == null) {
                countDispatch(dispatched);
            }
        } else if (call instanceof NormalCombineCall combined) {
            call.times.ended(ExpertCallKind.COMBINE, figures, error);
            if (error == null) {
                figures.of(ExpertCallKind.COMBINE)
                        .countTokens(combined.handle.received(), sentRows(combined.handle), at.rowBytes());
            }
        }
        call.end(error);
    }

    private void countDispatch(NormalDispatchCall call) {
        NormalHandle handle = call.handle();
        figures.of(ExpertCallKind.DISPATCH)
                .countTokens(sentRows(handle), handle.received(), at.rowBytes(call.format) + at.noteBytes(call.format));
        int[] loads = handle.expertCounts();
        int busiest = 0;
        for (int local = 0; local < loads.length; local++) {
            figures.countLoad(local, loads[local]);
            busiest = Math.max(busiest, loads[local]);
        }
        figures.countBusiest(busiest);
    }

    private long sentRows(NormalHandle handle) {
        long rows = 0;
        for (int rank = 0; rank < at.ranks; rank++) {
            rows += handle.sentCount(rank);
        }
        return rows;
    }

    /** Ends the buffer if a call waits for a rank that has left. What that had sent before has arrived. */
    private void lookAfter(NormalCall call, boolean waits) {
        for (int rank = 0; rank < at.ranks; rank++) {
            if (rank == links.rank
                    || !(call instanceof NormalDispatchCall ? dispatch.awaits(rank) : combine.awaits(rank))) {
                continue;
            }
            if (links.peer(rank).left.reached(1)) {
                host.lost(rank, null);
                return;
            }
            if (waits) {
                call.times.awaits(rank);
            }
        }
    }

    @Override
    public long deadline() {
        NormalCall call = current == null ? calls.first() : current;
        return call == null ? NEVER : call.deadline;
    }

    @Override
    public int unmapped() {
        return links.unmapped();
    }

    @Override
    public boolean isBusy() {
        return current != null || calls.first() != null;
    }

    @Override
    public void lost(int rank) {
        links.peer(rank).lost();
    }

    @Override
    public void fail(SluiceException error) {
        NormalCall call = current;
        current = null;
        if (call != null) {
            end(call, error);
        }
        for (NormalCall waiting = calls.take(); waiting != null; waiting = calls.take()) {
            end(waiting, error);
        }
        for (NormalCall handed = calls.takeSubmitted(); handed != null; ) {
            NormalCall following = handed.next;
            end(handed, error);
            handed = following;
        }
    }

    @Override
    public void leave(boolean closed) {
        // the others see another reason by themselves, and name the rank that is to blame
        if (closed) {
            links.leave();
        }
    }

    @Override
    public boolean isSettled() {
        // what the others still say is nothing to a rank that has left
        return true;
    }

    @Override
    public CompletableFuture<Void> close() {
        links.close();
        return backend.free(memory);
    }
}
