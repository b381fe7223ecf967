package io.sluice.experts;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommMemory;
import io.sluice.jni.ExpertKernels;
import io.sluice.jni.ExpertSums;
import io.sluice.jni.LogFmt;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A combine. To send, this rank stores or puts each row into the slot of its token and k on the token's rank. To receive, it
 * adds the slots of each of its tokens.
 */
final class CombineCall extends LowLatencyCall<MemoryRegion> {
    private static final int SLICE_BYTES = 64 << 10;
    private static final int HALF_WORD = 32;
    private static final long UNSIGNED = 0xFFFF_FFFFL;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;
    private static final CombineFormat[] FORMATS = CombineFormat.values();

    private final LowLatencyMemory memory;
    private final LowLatencyLayout layout;
    private final ResultMemory result;
    private final CombineStage stage;
    private final SlicedWork summing;
    private CombineFormat format = CombineFormat.BF16;
    private int tokens;
    private @Nullable MemoryRegion y;
    private long yOffset;
    private @Nullable MemorySegment topkIdx;
    private long topkIdxOffset;
    private @Nullable MemorySegment weights;
    private long weightsOffset;
    private @Nullable MemoryRegion out;
    private long outOffset;
    private long generation;
    private int set;
    private int target;
    private boolean opened;
    // the results for a rank, which are put together
    private boolean together;
    private int collected;
    private int localExpert;
    private int row;
    // what the results for a rank have taken, for all of them, and from all of them
    private long rankBytes;
    private long sentBytes;
    private long receivedBytes;
    private boolean compared;
    // ranks whose results were put together and are in their slots
    private int distributed;
    private boolean taken;

    CombineCall(
            HookedCalls calls,
            LowLatencyMemory memory,
            ResultMemory result,
            CombineStage stage,
            BufferFigures figures) {
        super(calls, ExpertCallKind.LOW_LATENCY_COMBINE, figures);
        this.memory = memory;
        this.layout = memory.layout;
        this.result = result;
        this.stage = stage;
        this.summing = new SlicedWork(memory.host.helpers(), this::sum);
    }

    /** Takes the inputs; on the caller's thread. */
    void prepare(
            int tokenCount,
            MemoryRegion results,
            long resultsOffset,
            MemorySegment choices,
            long choicesOffset,
            MemorySegment choiceWeights,
            long choiceWeightsOffset,
            MemoryRegion sums,
            long sumsOffset,
            CombineFormat combineFormat) {
        tokens = tokenCount;
        y = results;
        yOffset = resultsOffset;
        topkIdx = choices;
        topkIdxOffset = choicesOffset;
        weights = choiceWeights;
        weightsOffset = choiceWeightsOffset;
        out = sums;
        outOffset = sumsOffset;
        format = combineFormat;
    }

    // ---- sending ----

    @Override
    void begin(long number) {
        generation = number;
        set = LowLatencyLayout.set(number);
        target = 1;
        opened = false;
        distributed = 0;
        summing.begin(tokens, (long) layout.rowBytes() * layout.topK);
        taken = false;
        sentBytes = 0;
        receivedBytes = 0;
        compared = false;
    }

    @Override
    boolean maySend() {
        return memory.mayCombine(generation);
    }

    @Override
    int send(int budget) {
        int used = 0;
        while (!isSent() && used < budget) {
            // this rank itself comes last
            int rank = (memory.rank + target) % memory.ranks();
            Peer peer = memory.peer(rank);
            if (!opened) {
                open(rank, peer);
            }
            if (localExpert < layout.localExperts) {
                used += sendRows(rank, peer);
            } else {
                finish(rank, peer);
            }
        }
        return Math.max(1, used);
    }

    private void open(int rank, @Nullable Peer peer) {
        opened = true;
        localExpert = 0;
        row = 0;
        collected = 0;
        rankBytes = 0;
        int rows = 0;
        for (int local = 0; local < layout.localExperts; local++) {
            rows += (int) result.range(local, rank);
        }
        together = peer != null && peer.mapped == null && isTogether(rows);
        if (target == 1) {
            stage.clear(set);
        }
        if (peer != null && peer.mapped == null) {
            peer.clearBatches(LowLatencyLayout.COMBINE_BATCHES + set);
        }
    }

    /** Whether so many results of a rank are put together. */
    private boolean isTogether(int rows) {
        return format == CombineFormat.BF16 && rows <= layout.mostResultsTogether;
    }

    private void finish(int rank, @Nullable Peer peer) {
        opened = false;
        target++;
        sentBytes += rankBytes;
        if (peer == null) {
            receivedBytes += rankBytes;
            return;
        }
        MemorySegment mapped = peer.mapped;
        if (mapped == null) {
            writeNote(memory.own, layout.outboundNoteAt(set, rank));
        } else {
            writeNote(mapped, layout.combineNoteAt(set, memory.rank));
        }
        if (together) {
            peer.putReturns(set, collected);
        } else {
            peer.startBatches(LowLatencyLayout.COMBINE_BATCHES + set, peer.combineSends[set]);
            peer.announceCombine(set);
        }
    }

    private void writeNote(MemorySegment to, long at) {
        to.set(WORD, at, note());
        to.set(WORD, at + Long.BYTES, rankBytes);
    }

    /** What this combine is: its number, that of its dispatch, and the format, the same on all ranks. */
    private long note() {
        return (generation << HALF_WORD) | ((result.dispatch * FORMATS.length + format.ordinal()) & UNSIGNED);
    }

    /** Sends some rows of an expert to a rank. */
    private int sendRows(int rank, @Nullable Peer peer) {
        long range = result.range(localExpert, rank);
        int count = (int) range - row;
        if (count <= 0) {
            localExpert++;
            row = 0;
            return 0;
        }
        int rowBytes = layout.rowBytes();
        int share = Math.min(count, Math.max(1, SLICE_BYTES / rowBytes));
        int first = localExpert * layout.rowsOfExpert() + (int) (range >>> HALF_WORD) + row;
        MemorySegment slots = memory.windowOf(rank);
        if (together) {
            collect(rank, first, share);
        } else if (slots == null) {
            put(Objects.requireNonNull(peer), first, share);
        } else if (format == CombineFormat.BF16) {
            ExpertKernels.copyRows(
                    slots,
                    layout.combineSlotAt(set, 0),
                    layout.combineSlotBytes(),
                    result.slotsMemory,
                    0,
                    Objects.requireNonNull(y).segment(),
                    yOffset,
                    rowBytes,
                    null,
                    0,
                    rowBytes,
                    first,
                    share,
                    false);
        } else {
            for (int i = first; i < first + share; i++) {
                encode(slots, layout.combineSlotAt(set, slot(i)), i);
            }
        }
        if (format == CombineFormat.BF16) {
            rankBytes += (long) share * rowBytes;
        }
        row += share;
        return share * rowBytes;
    }

    private void collect(int rank, int first, int share) {
        int rowBytes = layout.rowBytes();
        MemorySegment.copy(
                Objects.requireNonNull(y).segment(),
                yOffset + (long) first * rowBytes,
                memory.own,
                layout.outboundReturnsAt(set, rank) + (long) collected * rowBytes,
                (long) share * rowBytes);
        collected += share;
    }

    private int slot(int index) {
        int slot = result.slotsMemory.getAtIndex(INT, index);
        if (slot < 0 || slot >= layout.tokens * layout.topK) {
            throw new ProtocolException("a list names slot " + slot + " for a result");
        }
        return slot;
    }

    /** Encodes a row to a place; its length is stored by the stage. */
    private int encode(MemorySegment to, long at, int index) {
        int rowBytes = layout.rowBytes();
        LogFmt.encode(
                to,
                at,
                0,
                stage.size,
                0,
                Objects.requireNonNull(y).segment(),
                yOffset + (long) index * rowBytes,
                0,
                layout.hidden,
                0,
                1);
        int bytes = stage.size.get(INT, 0);
        rankBytes += bytes;
        return bytes;
    }

    private void put(Peer peer, int first, int share) {
        MemoryRegion results = Objects.requireNonNull(y);
        CommMemory direct = format == CombineFormat.BF16 ? memory.backend.source(results) : null;
        int rowBytes = layout.rowBytes();
        for (int i = first; i < first + share; i++) {
            long slotAt = layout.combineSlotAt(set, slot(i));
            if (direct != null) {
                add(peer, direct, rowBytes, yOffset + (long) i * rowBytes, slotAt);
                continue;
            }
            CommMemory staged = stage.memory(set);
            long at = stage.next(set);
            int bytes = rowBytes;
            if (format == CombineFormat.BF16) {
                MemorySegment.copy(results.segment(), yOffset + (long) i * rowBytes, staged.segment(), at, rowBytes);
            } else {
                bytes = encode(staged.segment(), at, i);
            }
            add(peer, staged, bytes, at, slotAt);
        }
    }

    private void add(Peer peer, CommMemory source, int bytes, long sourceOffset, long targetOffset) {
        peer.batch(LowLatencyLayout.COMBINE_BATCHES + set, source, memory.window, bytes)
                .add(sourceOffset, targetOffset);
    }

    @Override
    boolean isSent() {
        return target > memory.ranks();
    }

    @Override
    boolean isReleased() {
        boolean released = isSent();
        for (int rank = 0; rank < memory.ranks(); rank++) {
            Peer peer = memory.peer(rank);
            released &= peer == null || peer.combineSends[set].isIdle();
        }
        return released;
    }

    // ---- receiving ----

    @Override
    boolean hasArrived(Peer peer) {
        return peer.combineArrived.reached(generation);
    }

    @Override
    int receive(int budget) {
        int used = 0;
        if (!compared) {
            compare();
            compared = true;
        }
        while (distributed < memory.ranks() && used < budget) {
            used += distribute(distributed);
            distributed++;
        }
        if (distributed < memory.ranks()) {
            return used;
        }
        used += summing.advance(budget - used);
        if (summing.isDone()) {
            taken = true;
            memory.tookCombine(set);
            return Math.max(1, used);
        }
        return used;
    }

    /** Adds the slots of tokens. Any thread. */
    private void sum(int first, int count) {
        ExpertSums.ofSlots(
                Objects.requireNonNull(out).segment(),
                outOffset,
                layout.rowBytes(),
                memory.own,
                layout.combineSlotAt(set, 0),
                layout.combineSlotBytes(),
                Objects.requireNonNull(topkIdx),
                topkIdxOffset,
                Objects.requireNonNull(weights),
                weightsOffset,
                format == CombineFormat.BF16 ? ExpertKernels.BFLOAT16 : ExpertKernels.LOGFMT,
                layout.hidden,
                layout.topK,
                first,
                count);
    }

    /** Compares what the ranks combine, and adds up what they have sent. */
    private void compare() {
        long own = note();
        for (int rank = 0; rank < memory.ranks(); rank++) {
            if (rank == memory.rank) {
                continue;
            }
            long at = layout.combineNoteAt(set, rank);
            long other = memory.own.get(WORD, at);
            if (other >>> HALF_WORD != own >>> HALF_WORD) {
                throw new ProtocolException("the note of rank " + rank + " is of combine " + (other >>> HALF_WORD)
                        + ", and " + (own >>> HALF_WORD) + " was announced");
            }
            if (other != own) {
                throw new CollectiveMismatchException(
                        "this rank combines " + text(own) + ", and rank " + rank + " " + text(other));
            }
            receivedBytes += memory.own.get(WORD, at + Long.BYTES);
        }
    }

    private static String text(long note) {
        long low = note & UNSIGNED;
        return "dispatch " + low / FORMATS.length + " in format " + FORMATS[(int) (low % FORMATS.length)];
    }

    /** Copies the results that a rank has put together to their slots. */
    private int distribute(int rank) {
        int first = rank * layout.localExperts;
        int rows = result.route.count(first, first + layout.localExperts);
        if (memory.windowOf(rank) != null || !isTogether(rows)) {
            return 0;
        }
        int rowBytes = layout.rowBytes();
        for (int i = 0; i < rows; i++) {
            MemorySegment.copy(
                    memory.own,
                    layout.returnsAt(set, rank) + (long) i * rowBytes,
                    memory.own,
                    layout.combineSlotAt(set, result.route.slot(first, i)),
                    rowBytes);
        }
        return rows * rowBytes;
    }

    @Override
    boolean isReceived() {
        return taken;
    }

    @Override
    void count(CallFigures of) {
        int rows = 0;
        for (int local = 0; local < layout.localExperts; local++) {
            rows += result.count(local);
        }
        int answers = result.route.count(0, memory.ranks() * layout.localExperts);
        of.countTokens(rows, answers, sentBytes, receivedBytes);
    }

    @Override
    @Nullable
    MemoryRegion ended(@Nullable SluiceException error) {
        MemoryRegion sums = out;
        y = null;
        topkIdx = null;
        weights = null;
        out = null;
        result.letGo();
        return error == null ? sums : null;
    }
}
