package io.sluice.experts;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The low-latency calls of a buffer. One call after another is sent; those that were sent are received when all of them has
 * arrived. The methods of {@link LowLatencyOperations} are for any thread, all else is the loop's.
 */
final class LowLatency implements BufferPart, LowLatencyOperations, LowLatencyCall.HookedCalls {
    /** How many results may be live. */
    static final int RESULTS = 2;

    // of two results a dispatch and a combine each
    private static final int MOST_CALLS = 8;

    private final ExpertOptions options;
    private final BufferHost host;
    private final LowLatencyMemory memory;
    private final LowLatencyLayout layout;
    private final CombineStage stage;
    private final Slot[] slots = new Slot[RESULTS];
    private final MpscAtomicArrayQueue<LowLatencyCall<?>> incoming = new MpscAtomicArrayQueue<>(MOST_CALLS);
    private final List<LowLatencyCall<?>> sending = new ArrayList<>(MOST_CALLS);
    private final List<LowLatencyCall<?>> sent = new ArrayList<>(MOST_CALLS);
    private long dispatches;
    private long combines;
    private long sentDispatches;
    private long sentCombines;

    /** A result, and the calls that it takes part in. */
    private static final class Slot {
        final ResultMemory result;
        final DispatchCall dispatch;
        final CombineCall combine;

        Slot(LowLatency calls, ResultMemory result, BufferFigures figures) {
            this.result = result;
            this.dispatch = new DispatchCall(calls, calls.memory, result, figures);
            this.combine = new CombineCall(calls, calls.memory, result, calls.stage, figures);
        }
    }

    LowLatency(
            ExpertOptions options,
            LowLatencyMemory memory,
            CombineStage stage,
            List<ResultMemory> results,
            BufferFigures figures) {
        this.options = options;
        this.host = memory.host;
        this.memory = memory;
        this.layout = memory.layout;
        this.stage = stage;
        for (int i = 0; i < RESULTS; i++) {
            slots[i] = new Slot(this, results.get(i), figures);
        }
    }

    // ---- any thread ----

    @Override
    public void lowLatencyDispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions dispatchOptions,
            ExpertCallback<LowLatencyResult> callback) {
        Objects.requireNonNull(callback, "callback");
        dispatch(x, xOffset, topkIdx, topkIdxOffset, tokens, dispatchOptions, null, callback);
    }

    @Override
    public void lowLatencyDispatchHooked(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions dispatchOptions,
            ExpertCallback<ReceiveHook<LowLatencyResult>> callback) {
        Objects.requireNonNull(callback, "callback");
        dispatch(x, xOffset, topkIdx, topkIdxOffset, tokens, dispatchOptions, callback, null);
    }

    private void dispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions dispatchOptions,
            @Nullable ExpertCallback<ReceiveHook<LowLatencyResult>> hooked,
            @Nullable ExpertCallback<LowLatencyResult> callback) {
        host.check();
        if (tokens < 0 || tokens > layout.tokens) {
            throw new IllegalArgumentException(
                    "a rank dispatches 0 to " + layout.tokens + " tokens at once, not " + tokens);
        }
        if (dispatchOptions.format() == DispatchFormat.FP8_UE8M0
                && layout.hidden % DispatchCall.CHANNELS_OF_PACKED != 0) {
            throw new IllegalArgumentException("packed scales need a multiple of " + DispatchCall.CHANNELS_OF_PACKED
                    + " channels, not " + layout.hidden);
        }
        checkRange(x, xOffset, (long) tokens * layout.hidden * Short.BYTES);
        checkRange(topkIdx, topkIdxOffset, (long) tokens * layout.topK * Long.BYTES);
        MemoryRegion statistics = dispatchOptions.statistics();
        if (statistics != null) {
            checkRange(statistics, dispatchOptions.statisticsOffset(), (long) layout.localExperts * Integer.BYTES);
            statistics.segment();
        }
        Slot slot = freeSlot();
        try {
            slot.dispatch.prepare(x.segment(), xOffset, topkIdx.segment(), topkIdxOffset, tokens, dispatchOptions);
            slot.dispatch.called(nanos(dispatchOptions.timeout()), hooked, callback);
            offer(slot.dispatch);
        } catch (RuntimeException e) {
            slot.dispatch.withdrawn();
            slot.result.giveBack();
            throw e;
        }
        host.signal();
    }

    private static void checkRange(MemoryRegion region, long offset, long bytes) {
        Objects.checkFromIndexSize(offset, bytes, region.length());
    }

    private long nanos(@Nullable Duration timeout) {
        return (timeout == null ? options.timeout() : timeout).toNanos();
    }

    private Slot freeSlot() {
        for (Slot slot : slots) {
            if (slot.result.take()) {
                return slot;
            }
        }
        throw new TooManyLiveResultsException(
                "two results of low-latency dispatches are not closed; close one before the next dispatch");
    }

    private void offer(LowLatencyCall<?> call) {
        if (!incoming.offer(call)) {
            throw new IllegalStateException("more calls than there are results");
        }
    }

    @Override
    public void lowLatencyCombine(
            LowLatencyResult handle,
            MemoryRegion y,
            long yOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            MemoryRegion out,
            long outOffset,
            CombineOptions combineOptions,
            ExpertCallback<MemoryRegion> callback) {
        Objects.requireNonNull(callback, "callback");
        CombineCall call = prepare(
                handle, y, yOffset, topkIdx, topkIdxOffset, weights, weightsOffset, out, outOffset, combineOptions);
        combine(call, combineOptions, null, callback);
    }

    @Override
    public void lowLatencyCombineHooked(
            LowLatencyResult handle,
            MemoryRegion y,
            long yOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            MemoryRegion out,
            long outOffset,
            CombineOptions combineOptions,
            ExpertCallback<ReceiveHook<MemoryRegion>> callback) {
        Objects.requireNonNull(callback, "callback");
        CombineCall call = prepare(
                handle, y, yOffset, topkIdx, topkIdxOffset, weights, weightsOffset, out, outOffset, combineOptions);
        combine(call, combineOptions, callback, null);
    }

    private CombineCall prepare(
            LowLatencyResult handle,
            MemoryRegion y,
            long yOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            MemoryRegion out,
            long outOffset,
            CombineOptions combineOptions) {
        host.check();
        Slot slot = slotOf(handle);
        int tokens = slot.result.route.tokens();
        long slotCount = (long) tokens * layout.topK;
        checkRange(y, yOffset, (long) layout.rows() * layout.hidden * Short.BYTES);
        checkRange(topkIdx, topkIdxOffset, slotCount * Long.BYTES);
        checkRange(weights, weightsOffset, slotCount * Float.BYTES);
        checkRange(out, outOffset, (long) tokens * layout.hidden * Short.BYTES);
        y.segment();
        out.segment();
        if (!slot.result.keep()) {
            throw new IllegalStateException("the result is closed, or a combine of it is under way");
        }
        try {
            slot.combine.prepare(
                    tokens,
                    y,
                    yOffset,
                    topkIdx.segment(),
                    topkIdxOffset,
                    weights.segment(),
                    weightsOffset,
                    out,
                    outOffset,
                    combineOptions.format());
        } catch (RuntimeException e) {
            slot.result.letGo();
            throw e;
        }
        return slot.combine;
    }

    private Slot slotOf(LowLatencyResult handle) {
        for (Slot slot : slots) {
            if (slot.result.equals(handle)) {
                return slot;
            }
        }
        throw new IllegalArgumentException("the result is of another buffer");
    }

    private void combine(
            CombineCall call,
            CombineOptions combineOptions,
            @Nullable ExpertCallback<ReceiveHook<MemoryRegion>> hooked,
            @Nullable ExpertCallback<MemoryRegion> callback) {
        call.called(nanos(combineOptions.timeout()), hooked, callback);
        offer(call);
        host.signal();
    }

    @Override
    public void check() {
        host.check();
    }

    @Override
    public void receive(LowLatencyCall<?> call) {
        offer(call);
        host.signal();
    }

    // ---- the loop ----

    @Override
    public int advance(int budget) {
        for (LowLatencyCall<?> call = incoming.poll(); call != null; call = incoming.poll()) {
            accept(call);
        }
        int used = 0;
        while (!sending.isEmpty() && used < budget && isSendable(sending.getFirst())) {
            LowLatencyCall<?> first = sending.getFirst();
            long since = System.nanoTime();
            int did = first.send(budget - used);
            used += did;
            first.times.moved(since);
            if (first.isSent()) {
                sending.removeFirst();
                countSent(first);
                sent.add(first);
            } else if (did == 0) {
                // helper threads have the rest
                break;
            }
        }
        for (int i = 0; i < sent.size() && used < budget; ) {
            LowLatencyCall<?> call = sent.get(i);
            used += advance(call, budget - used);
            // it has left if it has ended
            if (i < sent.size() && sent.get(i).equals(call)) {
                i++;
            }
        }
        return used;
    }

    private void accept(LowLatencyCall<?> call) {
        if (call.isCompleted()) {
            call.receives();
            return;
        }
        call.sends();
        call.begin(call instanceof DispatchCall ? ++dispatches : ++combines);
        sending.add(call);
    }

    private void countSent(LowLatencyCall<?> call) {
        if (call instanceof DispatchCall) {
            sentDispatches++;
        } else {
            sentCombines++;
        }
    }

    private boolean isSendable(LowLatencyCall<?> call) {
        call.times.begins();
        int closed = memory.firstClosed();
        if (closed >= 0) {
            host.lost(closed, null);
            return false;
        }
        return call.maySend();
    }

    /** Goes on with a call that was sent. */
    private int advance(LowLatencyCall<?> call, int budget) {
        if (call.isHeld()) {
            return 0;
        }
        if (!call.isReceiving()) {
            if (call.isHooked() && !call.isReleased()) {
                return 0;
            }
            if (!call.sent()) {
                return 0;
            }
            call.receives();
        }
        int used = 0;
        if (!call.isReceived()) {
            if (!hasArrived(call)) {
                return 0;
            }
            long since = System.nanoTime();
            used = call.receive(budget);
            call.times.moved(since);
        }
        if (call.isReceived() && call.isReleased()) {
            sent.remove(call);
            call.end(null);
        }
        return used;
    }

    private boolean hasArrived(LowLatencyCall<?> call) {
        boolean all = true;
        for (int rank = 0; rank < memory.ranks(); rank++) {
            Peer peer = memory.peer(rank);
            if (peer != null && !call.hasArrived(peer)) {
                all = false;
                call.times.awaits(rank);
                lookAfter(call, peer);
            }
        }
        if (all) {
            call.times.arrived(call.figures);
        }
        return all;
    }

    /** A rank that makes no more calls sends nothing more, but all that it had sent before arrives first. */
    private void lookAfter(LowLatencyCall<?> call, Peer peer) {
        if (peer.isGone() && !call.hasArrived(peer)) {
            int closed = peer.isClosed() ? peer.rank : memory.firstClosed();
            if (closed >= 0) {
                host.lost(closed, null);
            }
        }
    }

    @Override
    public long deadline() {
        long least = NEVER;
        for (int i = 0; i < sending.size(); i++) {
            least = earlier(least, sending.get(i).deadline());
        }
        for (int i = 0; i < sent.size(); i++) {
            if (!sent.get(i).isHeld()) {
                least = earlier(least, sent.get(i).deadline());
            }
        }
        return least;
    }

    private static long earlier(long one, long other) {
        return one == NEVER || other - one < 0 ? other : one;
    }

    @Override
    public int unmapped() {
        return memory.firstUnmapped();
    }

    @Override
    public void lost(int rank) {
        Peer peer = memory.peer(rank);
        if (peer != null) {
            peer.isLost();
        }
    }

    @Override
    public boolean isBusy() {
        return !sending.isEmpty() || !sent.isEmpty() || !incoming.isEmpty();
    }

    @Override
    public boolean isSettled() {
        return memory.isAllTaken(sentDispatches, sentCombines);
    }

    @Override
    public void leave(boolean closed) {
        memory.leave(closed ? LowLatencyLayout.CLOSED : LowLatencyLayout.FAILED);
    }

    @Override
    public void fail(SluiceException error) {
        for (LowLatencyCall<?> call = incoming.poll(); call != null; call = incoming.poll()) {
            sent.remove(call);
            call.end(error);
        }
        while (!sending.isEmpty()) {
            sending.removeFirst().end(error);
        }
        for (int i = sent.size() - 1; i >= 0; i--) {
            LowLatencyCall<?> call = sent.get(i);
            // one that its user completes now is handed over next
            if (call.release()) {
                sent.remove(i);
                call.end(error);
            }
        }
    }

    @Override
    public CompletableFuture<Void> close() {
        memory.stop();
        CompletableFuture<?>[] closing = new CompletableFuture<?>[RESULTS + 2];
        for (int i = 0; i < RESULTS; i++) {
            closing[i] = slots[i].result.release();
        }
        closing[RESULTS] = memory.close();
        closing[RESULTS + 1] = stage.close();
        return CompletableFuture.allOf(closing);
    }
}
