package io.sluice.experts;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.PutBatch;
import io.sluice.experts.backend.SymmetricMemory;
import io.sluice.jni.ExpertKernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
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
    private static final int HALF_WORD = 32;

    private final LowLatencyMemory memory;
    private final LowLatencyLayout layout;
    private final ResultMemory result;
    private final Route route;
    // by rank, the elements of its list
    private final int[] totals;
    // of the rank that is received: by element, the row and the message; by token, the message, -1 for none
    private final MemorySegment rows;
    private final MemorySegment indices;
    private final int[] messageOf;
    private final SlicedWork packing;
    private DispatchFormat format = DispatchFormat.BF16;
    private @Nullable MemorySegment x;
    private long xOffset;
    private @Nullable MemoryRegion statistics;
    private long statisticsOffset;
    private long generation;
    private int set;
    private boolean announced;
    private boolean counted;
    // what is received, so that it leaves the near caches anyway
    private boolean isLarge;
    private boolean opened;
    private MemorySegment messages = MemorySegment.NULL;
    private long messagesAt;
    private int messageStride;
    private int source;
    private int element;

    DispatchCall(HookedCalls calls, LowLatencyMemory memory, ResultMemory result, BufferFigures figures) {
        super(calls, ExpertCallKind.LOW_LATENCY_DISPATCH, figures);
        this.memory = memory;
        this.layout = memory.layout;
        this.result = result;
        this.route = result.route;
        this.totals = new int[memory.ranks()];
        this.rows = Arena.ofAuto().allocate((long) layout.mostListed * Integer.BYTES, Integer.BYTES);
        this.indices = Arena.ofAuto().allocate((long) layout.mostListed * Integer.BYTES, Integer.BYTES);
        this.messageOf = new int[layout.tokens];
        Arrays.fill(messageOf, -1);
        this.packing = new SlicedWork(memory.host.helpers(), this::pack);
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
        result.dispatch = number;
        set = LowLatencyLayout.set(number);
        packing.begin(route.tokens(), layout.rowBytes());
        announced = false;
        counted = false;
        opened = false;
        source = 0;
    }

    @Override
    boolean maySend() {
        return memory.mayDispatch(generation);
    }

    @Override
    int send(int budget) {
        int used = packing.advance(budget);
        if (packing.isDone()) {
            announce();
            announced = true;
            return Math.max(1, used);
        }
        return used;
    }

    /** Packs tokens. Any thread. */
    private void pack(int first, int count) {
        ExpertKernels.pack(
                memory.own,
                layout.stageAt(set, 0),
                layout.slotStride(),
                Objects.requireNonNull(x),
                xOffset,
                layout.rowBytes(),
                wireScales(format),
                layout.hidden,
                first,
                count);
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
        route.writeSlots(first, end, target, at + layout.combineSlotIn(0));
    }

    private void put(Peer peer) {
        int first = peer.rank * layout.localExperts;
        int end = first + layout.localExperts;
        int messages = route.choose(first, end);
        if (messages <= layout.mostTogether(format)) {
            collectMessages(peer, messages);
            peer.putTogether(set, messages, format);
        } else {
            putMessages(peer, messages);
            peer.announceDispatch(set, layout.combineSlotIn(route.count(first, end)));
        }
    }

    private void collectMessages(Peer peer, int messages) {
        int bytes = layout.messageBytes(format);
        long at = layout.outboundAt(set, peer.rank) + layout.messageIn(messages);
        for (int i = 0; i < messages; i++) {
            MemorySegment.copy(memory.own, layout.stageAt(set, route.chosen(i)), memory.own, at, bytes);
            at += bytes;
        }
    }

    private void putMessages(Peer peer, int messages) {
        SymmetricMemory slots = Objects.requireNonNull(memory.slots);
        peer.clearBatches(set);
        PutBatch batch = peer.batch(set, memory.window, slots, layout.messageBytes(format));
        for (int i = 0; i < messages; i++) {
            int token = route.chosen(i);
            batch.add(layout.stageAt(set, token), layout.slotAt(set, memory.rank, token));
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
        // all of one rank and then all of the next: its messages stay in the near caches
        while (source < memory.ranks() && used < budget) {
            if (!opened) {
                open(source);
            }
            int share = Math.min(totals[source] - element, Math.max(1, (budget - used) / rowBytes));
            if (share == 0) {
                source++;
                opened = false;
            } else {
                share = format.isQuantised() ? unpack(share) : copy(share);
                element += share;
                used += share * rowBytes;
            }
        }
        if (source == memory.ranks()) {
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
        long bytes = 0;
        for (int rank = 0; rank < memory.ranks(); rank++) {
            if (totals[rank] > layout.mostListed) {
                throw new ProtocolException("rank " + rank + " says that it has sent " + totals[rank] + " tokens");
            }
            bytes += (long) totals[rank] * layout.messageBytes(format);
        }
        isLarge = Caches.areExceededBy(bytes);
    }

    private int wordOf(long word, int rank) {
        if ((int) (word >>> HALF_WORD) != (int) generation) {
            throw new ProtocolException("the list of rank " + rank + " is of dispatch " + (word >>> HALF_WORD)
                    + ", and " + (int) generation + " was announced");
        }
        return (int) word;
    }

    /** Finds the messages of a rank, and for each element of its list which of them it is, and its row. */
    private void open(int rank) {
        opened = true;
        element = 0;
        readList(rank);
        int count = 0;
        for (int i = 0; i < totals[rank]; i++) {
            int token = indices.getAtIndex(INT, i);
            count += messageOf[token] < 0 ? 1 : 0;
            messageOf[token] = token;
        }
        MemorySegment stage = memory.windowOf(rank);
        if (stage != null) {
            readFrom(stage, layout.stageAt(set, 0), layout.slotStride());
        } else if (count > layout.mostTogether(format)) {
            readFrom(Objects.requireNonNull(memory.slots).segment(), layout.slotAt(set, rank, 0), layout.slotStride());
        } else {
            readFrom(memory.own, layout.listAt(set, rank) + layout.messageIn(count), layout.messageBytes(format));
            number(count);
            for (int i = 0; i < totals[rank]; i++) {
                indices.setAtIndex(INT, i, messageOf[indices.getAtIndex(INT, i)]);
            }
        }
        Arrays.fill(messageOf, -1);
    }

    /** Notes the row, the token and the slot of combine of each element. */
    private void readList(int rank) {
        long at = layout.listAt(set, rank) + layout.combineSlotIn(0);
        int next = 0;
        for (int local = 0; local < layout.localExperts; local++) {
            long range = result.range(local, rank);
            int first = local * layout.rowsOfExpert() + (int) (range >>> HALF_WORD);
            int end = first + (int) range;
            for (int row = first; row < end; row++) {
                int slot = memory.own.get(INT, at + (long) next * Integer.BYTES);
                if (slot < 0 || slot >= layout.tokens * layout.topK) {
                    throw new ProtocolException("the list of rank " + rank + " names slot " + slot + " of combine");
                }
                int token = slot / layout.topK;
                rows.setAtIndex(INT, next, row);
                indices.setAtIndex(INT, next, token);
                result.slotsMemory.setAtIndex(INT, row, slot);
                result.sourcesMemory.setAtIndex(INT, row, token);
                next++;
            }
        }
    }

    /** Messages that come together have numbers in the order of their tokens. */
    private void number(int count) {
        int next = 0;
        for (int token = 0; next < count; token++) {
            messageOf[token] = messageOf[token] < 0 ? -1 : next++;
        }
    }

    private void readFrom(MemorySegment in, long at, int stride) {
        messages = in;
        messagesAt = at;
        messageStride = stride;
    }

    /** Copies elements, for any experts. */
    private int copy(int share) {
        ExpertKernels.copyRows(
                result.tokensMemory,
                0,
                layout.rowBytes(),
                rows,
                0,
                messages,
                messagesAt + LowLatencyLayout.HEADER_BYTES,
                messageStride,
                indices,
                0,
                layout.rowBytes(),
                element,
                share,
                isLarge);
        return share;
    }

    /** Unpacks elements, as far as they are for one expert. Returns how many. */
    private int unpack(int most) {
        int row = rows.getAtIndex(INT, element);
        int localExpert = row / layout.rowsOfExpert();
        int share = 1;
        while (share < most && rows.getAtIndex(INT, element + share) == row + share) {
            share++;
        }
        share = Math.min(share, (localExpert + 1) * layout.rowsOfExpert() - row);
        int columns = format == DispatchFormat.FP8_UE8M0 ? layout.hidden / CHANNELS_OF_PACKED : layout.scales();
        long scalesAt = (long) localExpert * (columns - 1) * layout.rowsOfExpert() + row;
        ExpertKernels.unpack(
                result.tokensMemory,
                (long) row * layout.hidden,
                layout.hidden,
                result.scalesMemory,
                scalesAt * Float.BYTES,
                Float.BYTES,
                (long) layout.rowsOfExpert() * Float.BYTES,
                result.sourcesMemory,
                (long) row * Integer.BYTES,
                messages,
                messagesAt,
                messageStride,
                indices,
                (long) element * Integer.BYTES,
                resultScales(format),
                layout.hidden,
                0,
                share,
                isLarge);
        return share;
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
        return counted && source == memory.ranks();
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
        messages = MemorySegment.NULL;
        statistics = null;
        if (error == null) {
            result.arrived(format);
            return result;
        }
        result.giveBack();
        return null;
    }
}
