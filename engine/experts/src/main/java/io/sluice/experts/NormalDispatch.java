package io.sluice.experts;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.PutBatch;
import io.sluice.jni.ExpertKernels;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Runs the dispatches of normal mode, one at a time. Each rank tells all others how many tokens go where, and with the counts
 * of all ranks it knows where its rows begin on each. With a handle it knows already; in the worst case it does not need to
 * know, as its rows have a place of their own until they have arrived. The loop's alone.
 */
final class NormalDispatch {
    private static final int EXACT = 1;
    private static final int WORST = 2;
    private static final int AGAIN = 3;
    private static final int FORMATS = 16;
    // of the tokens that are copied to one rank after another
    private static final int TURN_BYTES = 128 << 10;

    /** How far rows for a rank are. */
    private enum Sending {
        COUNTS,
        ROWS,
        DONE
    }

    private final NormalLinks links;
    private final NormalMemory at;
    private final NormalSources sources;
    private final NormalSlots slots;
    private final NormalUnpack unpack;
    private final SlicedWork encoding;
    private final MemorySegment segment;
    private final int rank;
    private final Sending[] sending;
    private final int[] sentRows;
    private final int[] unpacked;
    private @Nullable NormalDispatchCall call;
    private long number;
    private int place;
    private boolean counted;
    // ranks that have been sent the tokens before turnEnd
    private int turn;
    private int turnEnd;
    // what is sent, so that it leaves the near caches anyway
    private boolean isLarge;
    private int sent;
    private int received;

    NormalDispatch(NormalLinks links, NormalSources sources, NormalSlots slots, @Nullable HelperThreads helpers) {
        this.links = links;
        this.at = links.at;
        this.sources = sources;
        this.slots = slots;
        this.unpack = new NormalUnpack(links);
        this.encoding = new SlicedWork(helpers, this::encode);
        this.segment = links.segment;
        this.rank = links.rank;
        this.sending = new Sending[at.ranks];
        this.sentRows = new int[at.ranks];
        this.unpacked = new int[at.ranks];
    }

    /** Begins a dispatch, after the one before has ended. */
    void begin(NormalDispatchCall begun) {
        call = begun;
        number++;
        place = NormalSlots.place(number);
        DispatchFormat format = begun.format;
        encoding.begin(
                begun.handle().tokens(), format.isQuantised() ? at.rowBytes() + at.noteStride() : at.noteBytes(format));
        counted = false;
        sent = 0;
        received = 0;
        Arrays.fill(sending, Sending.COUNTS);
        turn = 0;
        turnEnd = turnTokens();
        Arrays.fill(sentRows, 0);
        Arrays.fill(unpacked, 0);
        unpack.begin(begun);
        if (!begun.again) {
            begun.handle().dispatch(number);
        }
        long counts = at.ownCountsAt(place);
        segment.set(ValueLayout.JAVA_INT, counts, kind());
        segment.set(ValueLayout.JAVA_INT, counts + Integer.BYTES, (int)
                begun.handle().dispatch());
        int rows = 0;
        for (int to = 0; to < at.ranks; to++) {
            int count = begun.handle().sentCount(to);
            segment.set(ValueLayout.JAVA_INT, counts + at.countAt(to), count);
            rows += count;
        }
        isLarge = Caches.areExceededBy(rows * at.rowBytes(begun.format));
    }

    private NormalDispatchCall call() {
        return Objects.requireNonNull(call);
    }

    private int kind() {
        NormalDispatchCall current = call();
        int form = current.again ? AGAIN : current.worst > 0 ? WORST : EXACT;
        return form * FORMATS + formatCode(current.format);
    }

    private static int formatCode(DispatchFormat format) {
        return switch (format) {
            case BF16 -> 0;
            case FP8 -> 1;
            case FP8_ROUNDED -> 2;
            case FP8_UE8M0 -> 3;
        };
    }

    /**
     * Does a share of the dispatch.
     *
     * @param budget how many bytes it may move
     * @return how many it has moved; at least the budget if there is more to do at once
     */
    int advance(int budget) {
        int used = encoding.isDone() ? 0 : encoding.advance(budget);
        sendCounts();
        if (encoding.isDone() && haveCounts()) {
            used += sendRows(budget - used);
        }
        if (counted) {
            used += receive(budget - used);
        }
        return used;
    }

    /** Whether all rows have arrived, and nothing reads the sources any more. */
    boolean isDone() {
        return received == at.ranks && sent == at.ranks && links.isIdle();
    }

    /** Whether it needs something of another rank. */
    boolean awaits(int other) {
        return sending[other] == Sending.COUNTS
                || !links.peer(other).rowsArrived.reached(number);
    }

    /** Hands the slot over, and returns the dispatch. */
    NormalDispatchCall finish(NormalRows.Segments[] segments) {
        NormalDispatchCall done = call();
        int slot = slots.slot(number);
        done.rows().filled(segments[slot], slot, unpack.finish(slot));
        slots.done(number);
        call = null;
        return done;
    }

    // ---- this rank's tokens ----

    /** Encodes tokens. Any thread. */
    private void encode(int first, int count) {
        NormalDispatchCall current = call();
        DispatchFormat format = current.format;
        for (int token = first; token < first + count; token++) {
            writeNote(current, token);
        }
        if (format.isQuantised()) {
            ExpertKernels.quantize(
                    segment,
                    at.codesAt(0),
                    at.hidden,
                    segment,
                    at.noteAt(0) + at.noteScales(),
                    at.noteStride(),
                    Float.BYTES,
                    current.x,
                    current.xOffset,
                    at.rowBytes(),
                    format == DispatchFormat.FP8 ? ExpertKernels.EXACT : ExpertKernels.ROUNDED,
                    at.hidden,
                    first,
                    count);
        }
    }

    private void writeNote(NormalDispatchCall current, int token) {
        long note = at.noteAt(token);
        segment.set(ValueLayout.JAVA_INT, note, token);
        long first = (long) token * at.topK;
        for (int k = 0; k < at.topK; k++) {
            long choice = -1;
            int weight = 0;
            if (!current.again) {
                choice = current.choices.get(
                        ValueLayout.JAVA_LONG_UNALIGNED, current.choicesOffset + (first + k) * Long.BYTES);
                weight = current.weights.get(
                        ValueLayout.JAVA_INT_UNALIGNED, current.weightsOffset + (first + k) * Float.BYTES);
            }
            segment.set(ValueLayout.JAVA_INT, note + at.noteChoice(k), (int) choice);
            segment.set(ValueLayout.JAVA_INT, note + at.noteWeight(k), weight);
        }
    }

    // ---- counts ----

    private void sendCounts() {
        for (int to = 0; to < at.ranks; to++) {
            if (sending[to] != Sending.COUNTS) {
                continue;
            }
            if (to == rank) {
                if (slots.isGranted(number)) {
                    sending[to] = Sending.ROWS;
                }
            } else if (links.peer(to).slotGranted.reached(number)) {
                links.peer(to).sendCounts(place);
                sending[to] = Sending.ROWS;
            }
        }
    }

    /** Whether this rank knows where its rows begin on the others. */
    private boolean haveCounts() {
        if (counted) {
            return true;
        }
        NormalDispatchCall current = call();
        if (!current.again) {
            current.handle().fixedPlaces(current.worst > 0);
            if (current.worst > 0) {
                for (int to = 0; to < at.ranks; to++) {
                    current.handle().beginAt(to, rank * at.maxTokens);
                }
            } else if (!exchangeCounts(current.handle())) {
                return false;
            }
        }
        counted = true;
        return true;
    }

    private boolean exchangeCounts(NormalHandle handle) {
        boolean all = true;
        for (int from = 0; from < at.ranks; from++) {
            all &= from == rank || links.peer(from).countsArrived.reached(number);
        }
        if (!all) {
            return false;
        }
        for (int to = 0; to < at.ranks; to++) {
            int before = 0;
            for (int from = 0; from < rank; from++) {
                before += count(from, to);
            }
            handle.beginAt(to, before);
        }
        for (int from = 0; from < at.ranks; from++) {
            handle.rowsFrom(from, count(from, rank));
        }
        if (handle.received() > at.capacity()) {
            throw new SluiceException(handle.received() + " rows have been announced, more than there is room for");
        }
        return true;
    }

    /** How many tokens go from a rank to a rank, once counts have arrived. */
    private int count(int from, int to) {
        if (from == rank) {
            return call().handle().sentCount(to);
        }
        long counts = at.countsAt(place, from);
        int theirs = segment.get(ValueLayout.JAVA_INT, counts);
        if (theirs != kind()) {
            throw new CollectiveMismatchException(
                    "rank " + rank + " has called " + text(kind()) + " and rank " + from + " " + text(theirs));
        }
        int dispatch = segment.get(ValueLayout.JAVA_INT, counts + Integer.BYTES);
        if (dispatch != (int) call().handle().dispatch()) {
            throw new CollectiveMismatchException("rank " + rank + " has passed the handle of dispatch "
                    + call().handle().dispatch() + ", and rank " + from + " that of dispatch " + dispatch);
        }
        int count = segment.get(ValueLayout.JAVA_INT, counts + at.countAt(to));
        if (count < 0 || count > at.maxTokens) {
            throw new SluiceException("rank " + from + " announces " + count + " rows");
        }
        return count;
    }

    private static String text(int kind) {
        String form = switch (kind / FORMATS) {
            case EXACT -> "a dispatch";
            case WORST -> "a dispatch with a number of rows";
            case AGAIN -> "a dispatch with an earlier handle";
            default -> "something else";
        };
        for (DispatchFormat format : DispatchFormat.values()) {
            if (formatCode(format) == kind % FORMATS) {
                return form + " of " + format;
            }
        }
        return form;
    }

    // ---- rows ----

    /** Copies some tokens to each rank in turn while they are in the near caches, and then the following ones. */
    private int sendRows(int budget) {
        int tokens = call().handle().tokens();
        int used = 0;
        while (used < budget && sent < at.ranks) {
            int to = (rank + 1 + turn) % at.ranks;
            used += sendRows(to, budget - used);
            if (sending[to] == Sending.ROWS && isBefore(to, turnEnd)) {
                continue;
            }
            turn++;
            if (turn == at.ranks) {
                turn = 0;
                if (turnEnd >= tokens) {
                    break;
                }
                turnEnd += turnTokens();
            }
        }
        return used;
    }

    private int turnTokens() {
        return (int) Math.max(1, TURN_BYTES / at.rowBytes(call().format));
    }

    /** Whether the next row for a rank is of a token before one. */
    private boolean isBefore(int to, int token) {
        NormalHandle handle = call().handle();
        int next = sentRows[to];
        return next < handle.sentCount(to) && handle.sentToken(to, next) < token;
    }

    private int sendRows(int to, int budget) {
        if (sending[to] != Sending.ROWS) {
            return 0;
        }
        NormalDispatchCall current = call();
        NormalHandle handle = current.handle();
        int slot =
                to == rank ? slots.slot(number) : (int) segment.get(ValueLayout.JAVA_LONG, at.slotNumberAt(place, to));
        Objects.checkIndex(slot, NormalMemory.SLOTS);
        int used = 0;
        if (handle.sentCount(to) > 0) {
            MemorySegment target = links.reachable(to);
            if (target == null) {
                put(current, to, slot);
            } else {
                used = isBefore(to, turnEnd) ? copy(current, to, slot, target, budget) : 0;
                if (sentRows[to] < handle.sentCount(to)) {
                    return used;
                }
            }
        }
        if (to != rank) {
            links.peer(to).endRows();
        }
        sending[to] = Sending.DONE;
        sent++;
        return used;
    }

    private int copy(NormalDispatchCall current, int to, int slot, MemorySegment target, int budget) {
        NormalHandle handle = current.handle();
        DispatchFormat format = current.format;
        long rowBytes = at.rowBytes(format);
        int noteBytes = at.noteBytes(format);
        int first = sentRows[to];
        int most = (int) Math.min(handle.sentCount(to) - first, Math.max(1, budget / (rowBytes + noteBytes)));
        int count = 0;
        while (count < most && handle.sentToken(to, first + count) < turnEnd) {
            count++;
        }
        boolean quantised = format.isQuantised();
        ExpertKernels.copyRows(
                target,
                at.rowAt(slot, handle.sentRow(to), format),
                rowBytes,
                null,
                0,
                quantised ? segment : current.x,
                quantised ? at.codesAt(0) : current.xOffset,
                rowBytes,
                handle.sent(),
                handle.sentAt(to),
                rowBytes,
                first,
                count,
                isLarge);
        ExpertKernels.copyRows(
                target,
                at.noteAt(slot, handle.sentRow(to)),
                at.noteStride(),
                null,
                0,
                segment,
                at.noteAt(0),
                at.noteStride(),
                handle.sent(),
                handle.sentAt(to),
                noteBytes,
                first,
                count,
                false);
        sentRows[to] = first + count;
        return (int) (count * (rowBytes + noteBytes));
    }

    private void put(NormalDispatchCall current, int to, int slot) {
        NormalHandle handle = current.handle();
        DispatchFormat format = current.format;
        boolean quantised = format.isQuantised();
        PutBatch rows = quantised ? links.peer(to).codes() : sources.batch(current.region(), to);
        PutBatch notes = links.peer(to).notes(format);
        rows.clear();
        notes.clear();
        int firstRow = handle.sentRow(to);
        for (int i = 0; i < handle.sentCount(to); i++) {
            int token = handle.sentToken(to, i);
            rows.add(
                    quantised ? at.codesAt(token) : current.xOffset + token * at.rowBytes(),
                    at.rowAt(slot, firstRow + i, format));
            notes.add(at.noteAt(token), at.noteAt(slot, firstRow + i));
        }
        links.peer(to).start(rows);
        links.peer(to).start(notes);
    }

    private int receive(int budget) {
        NormalDispatchCall current = call();
        int slot = slots.slot(number);
        boolean packs = current.handle().hasFixedPlaces();
        int used = 0;
        for (int from = 0; from < at.ranks && used < budget; from++) {
            if (unpacked[from] < 0) {
                continue;
            }
            if (!haveRows(from)) {
                if (packs) {
                    // rows of the ranks that follow begin after these
                    break;
                }
                continue;
            }
            if (unpacked[from] == 0) {
                checkCount(current, from);
            }
            int rows = current.handle().rowCount(from);
            int first = current.handle().firstRow(from);
            int arrivedAt = packs ? from * at.maxTokens : first;
            int count = unpack.rowsWithin(budget - used, rows - unpacked[from], arrivedAt != first);
            used += unpack.rows(slot, arrivedAt + unpacked[from], first + unpacked[from], count);
            unpacked[from] += count;
            if (unpacked[from] == rows) {
                unpacked[from] = -1;
                received++;
            } else {
                return Math.max(used, budget);
            }
        }
        return used;
    }

    private boolean haveRows(int from) {
        return from == rank
                ? sending[rank] == Sending.DONE
                : links.peer(from).rowsArrived.reached(number);
    }

    /** Compares how many rows a rank has sent with what is known; in the worst case nothing is. */
    private void checkCount(NormalDispatchCall current, int from) {
        int count = count(from, rank);
        if (!current.again && current.worst > 0) {
            current.handle().rowsFrom(from, count);
        } else if (count != current.handle().rowCount(from)) {
            throw new CollectiveMismatchException("rank " + from + " sends " + count + " rows where "
                    + current.handle().rowCount(from)
                    + " belong: the ranks have passed handles of different dispatches");
        }
        int most = current.worst > 0 ? current.worst : at.capacity();
        if (current.handle().received() > most) {
            throw new SluiceException(
                    current.handle().received() + " rows or more arrive, and the worst case was to be " + most);
        }
    }
}
