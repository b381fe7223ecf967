package io.sluice.experts;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.PutBatch;
import io.sluice.experts.backend.SymmetricMemory;
import io.sluice.jni.ExpertKernels;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A dispatch. To send, this rank packs each token once, and writes down for each rank what it has for it. To receive, it
 * copies the messages of each rank, out of that rank's stage or its own slots, behind those of the ranks before.
 */
final class DispatchCall extends LowLatencyCall<LowLatencyResult> {
    /** An int32 of packed exponents is for so many channels. */
    static final int CHANNELS_OF_PACKED = 512;

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final int SLICE_BYTES = 64 << 10;
    private static final int HALF_WORD = 32;

    private final LowLatencyMemory memory;
    private final LowLatencyLayout layout;
    private final ResultMemory result;
    private final Route route;
    // elements of each rank's list that were received, and all of them
    private final int[] listed;
    private final int[] totals;
    private DispatchFormat format = DispatchFormat.BF16;
    private @Nullable MemorySegment x;
    private long xOffset;
    private @Nullable MemoryRegion statistics;
    private long statisticsOffset;
    private long generation;
    private int set;
    private int packed;
    private boolean announced;
    private boolean counted;
    private int localExpert;
    private int source;
    private int row;

    DispatchCall(HookedCalls calls, LowLatencyMemory memory, ResultMemory result, BufferFigures figures) {
        super(calls, ExpertCallKind.LOW_LATENCY_DISPATCH, figures);
        this.memory = memory;
        this.layout = memory.layout;
        this.result = result;
        this.route = result.route;
        this.listed = new int[memory.ranks()];
        this.totals = new int[memory.ranks()];
    }

    /** Takes the inputs; on the caller's thread. */
    void prepare(
            MemorySegment tokens,
            long tokensOffset,
            MemorySegment topkIdx,
            long topkIdxOffset,
            int count,
            DispatchOptions options) {
        x = tokens;
        xOffset = tokensOffset;
        format = options.format();
        statistics = options.statistics();
        statisticsOffset = options.statisticsOffset();
        route.read(topkIdx, topkIdxOffset, count);
    }

    // ---- sending ----

    @Override
    void begin(long number) {
        generation = number;
        set = LowLatencyLayout.set(number);
        packed = 0;
        announced = false;
        counted = false;
        localExpert = 0;
        source = 0;
        row = 0;
    }

    @Override
    boolean maySend() {
        return memory.mayDispatch(generation);
    }

    @Override
    int send(int budget) {
        int rowBytes = layout.rowBytes();
        int used = 0;
        while (packed < route.tokens() && used < budget) {
            int count = Math.min(Math.max(1, SLICE_BYTES / rowBytes), route.tokens() - packed);
            ExpertKernels.pack(
                    memory.own,
                    layout.stageAt(set, 0),
                    layout.slotBytes(),
                    Objects.requireNonNull(x),
                    xOffset,
                    rowBytes,
                    wireScales(format),
                    layout.hidden,
                    packed,
                    count);
            packed += count;
            used += count * rowBytes;
        }
        if (packed == route.tokens()) {
            announce();
            announced = true;
            return Math.max(1, used);
        }
        return used;
    }

    private static int wireScales(DispatchFormat format) {
        return switch (format) {
            case BF16 -> ExpertKernels.NONE;
            case FP8 -> ExpertKernels.EXACT;
            case FP8_ROUNDED, FP8_UE8M0 -> ExpertKernels.ROUNDED;
        };
    }

    private static int resultScales(DispatchFormat format) {
        return format == DispatchFormat.FP8_UE8M0 ? ExpertKernels.PACKED : wireScales(format);
    }

    private void announce() {
        int ranks = memory.ranks();
        for (int i = 1; i < ranks; i++) {
            // not all ranks begin with the same one
            Peer peer = Objects.requireNonNull(memory.peer((memory.rank + i) % ranks));
            MemorySegment mapped = peer.mapped;
            if (mapped == null) {
                writeList(peer.rank, memory.own, layout.outboundAt(set, peer.rank));
                put(peer);
            } else {
                writeList(peer.rank, mapped, layout.listAt(set, memory.rank));
                peer.announceDispatch(set);
            }
        }
        writeList(memory.rank, memory.own, layout.listAt(set, memory.rank));
    }

    private void writeList(int rank, MemorySegment target, long at) {
        int first = rank * layout.localExperts;
        int end = first + layout.localExperts;
        target.set(WORD, at, (generation << HALF_WORD) | (format.ordinal() + 1));
        for (int expert = first; expert < end; expert++) {
            target.set(
                    WORD,
                    at + LowLatencyLayout.countIn(expert - first),
                    (generation << HALF_WORD) | (route.count(expert) + 1));
        }
        route.writeTokens(first, end, target, at + layout.tokenIn(0));
        route.writeSlots(first, end, target, at + layout.combineSlotIn(0));
    }

    private void put(Peer peer) {
        int first = peer.rank * layout.localExperts;
        int listed = route.count(first, first + layout.localExperts);
        if (listed <= layout.mostTogether) {
            collectMessages(peer, first, listed);
            peer.putTogether(set, listed, format);
        } else {
            putMessages(peer, first);
            peer.announceDispatch(set, layout.combineSlotIn(listed));
        }
    }

    private void collectMessages(Peer peer, int first, int listed) {
        int bytes = layout.messageBytes(format);
        long at = layout.outboundAt(set, peer.rank) + layout.messageIn(listed);
        for (int expert = first; expert < first + layout.localExperts; expert++) {
            for (int i = 0; i < route.count(expert); i++) {
                MemorySegment.copy(memory.own, layout.stageAt(set, route.token(expert, i)), memory.own, at, bytes);
                at += bytes;
            }
        }
    }

    private void putMessages(Peer peer, int first) {
        SymmetricMemory slots = Objects.requireNonNull(memory.slots);
        peer.clearBatches(set);
        PutBatch batch = peer.batch(set, memory.window, slots, layout.messageBytes(format));
        for (int local = 0; local < layout.localExperts; local++) {
            int count = route.count(first + local);
            for (int i = 0; i < count; i++) {
                batch.add(
                        layout.stageAt(set, route.token(first + local, i)), layout.slotAt(set, local, memory.rank, i));
            }
        }
        peer.startBatches(set, peer.dispatchSends[set]);
    }

    @Override
    boolean isSent() {
        return announced;
    }

    /** Puts read the stage alone. */
    @Override
    boolean isReleased() {
        return announced;
    }

    // ---- receiving ----

    @Override
    boolean hasArrived(Peer peer) {
        return peer.dispatchArrived.reached(generation);
    }

    @Override
    int receive(int budget) {
        int used = 0;
        if (!counted) {
            count();
            counted = true;
        }
        int rowBytes = layout.messageBytes(format);
        while (localExpert < layout.localExperts && used < budget) {
            long range = result.range(localExpert, source);
            int count = (int) range - row;
            if (count > 0) {
                int share = Math.min(count, Math.max(1, SLICE_BYTES / rowBytes));
                unpack((int) (range >>> HALF_WORD), share);
                row += share;
                used += share * rowBytes;
            } else {
                listed[source] += row;
                row = 0;
                source++;
                if (source == memory.ranks()) {
                    source = 0;
                    localExpert++;
                }
            }
        }
        if (localExpert == layout.localExperts) {
            addStatistics();
            memory.tookDispatch(set);
            return Math.max(1, used);
        }
        return used;
    }

    /** Finds where the rows of each rank begin. */
    private void count() {
        for (int rank = 0; rank < memory.ranks(); rank++) {
            long word = memory.own.get(WORD, layout.listAt(set, rank));
            int code = wordOf(word, rank) - 1;
            if (code != format.ordinal()) {
                throw new CollectiveMismatchException("this rank dispatches in format " + format + ", and rank " + rank
                        + " in that of number " + code);
            }
            totals[rank] = 0;
            listed[rank] = 0;
        }
        for (int local = 0; local < layout.localExperts; local++) {
            long begin = 0;
            for (int rank = 0; rank < memory.ranks(); rank++) {
                long at = layout.listAt(set, rank) + LowLatencyLayout.countIn(local);
                int count = wordOf(memory.own.get(WORD, at), rank) - 1;
                if (count < 0 || count > layout.tokens) {
                    throw new ProtocolException("rank " + rank + " says that it has sent " + count + " tokens");
                }
                result.rangesMemory.setAtIndex(
                        WORD, (long) local * memory.ranks() + rank, (begin << HALF_WORD) | count);
                begin += count;
                totals[rank] += count;
            }
            result.countsMemory.setAtIndex(ValueLayout.JAVA_INT, local, (int) begin);
        }
        for (int rank = 0; rank < memory.ranks(); rank++) {
            if (totals[rank] > layout.mostListed) {
                throw new ProtocolException("rank " + rank + " says that it has sent " + totals[rank] + " tokens");
            }
        }
    }

    private int wordOf(long word, int rank) {
        if ((int) (word >>> HALF_WORD) != (int) generation) {
            throw new ProtocolException("the list of rank " + rank + " is of dispatch " + (word >>> HALF_WORD)
                    + ", and " + (int) generation + " was announced");
        }
        return (int) word;
    }

    private void unpack(int begin, int share) {
        long list = layout.listAt(set, source);
        MemorySegment stage = memory.windowOf(source);
        if (stage != null) {
            unpack(
                    begin,
                    share,
                    stage,
                    layout.stageAt(set, 0),
                    layout.slotBytes(),
                    memory.own,
                    list + layout.tokenIn(listed[source]));
        } else if (totals[source] <= layout.mostTogether) {
            int bytes = layout.messageBytes(format);
            long at = list + layout.messageIn(totals[source]) + (long) listed[source] * bytes;
            unpack(begin, share, memory.own, at, bytes, null, 0);
        } else {
            MemorySegment slots = Objects.requireNonNull(memory.slots).segment();
            unpack(begin, share, slots, layout.slotAt(set, localExpert, source, 0), layout.slotBytes(), null, 0);
        }
        int first = localExpert * layout.rowsOfExpert() + begin;
        MemorySegment.copy(
                memory.own,
                INT,
                list + layout.combineSlotIn(listed[source] + row),
                result.slotsMemory,
                INT,
                ((long) first + row) * Integer.BYTES,
                share);
    }

    /** Unpacks messages: each one's is at its row, or at the row's index. */
    private void unpack(
            int begin,
            int share,
            MemorySegment messages,
            long messagesAt,
            int messageBytes,
            @Nullable MemorySegment indices,
            long indicesAt) {
        int first = localExpert * layout.rowsOfExpert() + begin;
        int rowBytes = format.isQuantised() ? layout.hidden : layout.rowBytes();
        int columns = format == DispatchFormat.FP8_UE8M0 ? layout.hidden / CHANNELS_OF_PACKED : layout.scales();
        ExpertKernels.unpack(
                result.tokensMemory,
                (long) first * rowBytes,
                rowBytes,
                result.scalesMemory,
                ((long) localExpert * columns * layout.rowsOfExpert() + begin) * Float.BYTES,
                Float.BYTES,
                (long) layout.rowsOfExpert() * Float.BYTES,
                result.sourcesMemory,
                (long) first * Integer.BYTES,
                messages,
                messagesAt,
                messageBytes,
                indices,
                indicesAt,
                resultScales(format),
                layout.hidden,
                row,
                share,
                false);
    }

    private void addStatistics() {
        MemoryRegion region = statistics;
        if (region != null) {
            MemorySegment sums = region.segment();
            for (int local = 0; local < layout.localExperts; local++) {
                long at = statisticsOffset + (long) local * Integer.BYTES;
                sums.set(INT, at, sums.get(INT, at) + result.count(local));
            }
        }
    }

    @Override
    boolean isReceived() {
        return counted && localExpert == layout.localExperts;
    }

    @Override
    void count(CallFigures of) {
        int received = 0;
        int busiest = 0;
        for (int local = 0; local < layout.localExperts; local++) {
            int tokens = result.count(local);
            figures.countLoad(local, tokens);
            received += tokens;
            busiest = Math.max(busiest, tokens);
        }
        figures.countBusiest(busiest);
        of.countTokens(route.count(0, memory.ranks() * layout.localExperts), received, layout.messageBytes(format));
    }

    @Override
    @Nullable
    LowLatencyResult ended(@Nullable SluiceException error) {
        x = null;
        statistics = null;
        if (error == null) {
            result.arrived(format);
            return result;
        }
        result.giveBack();
        return null;
    }
}
