package io.sluice.experts;

import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommMemory;
import io.sluice.experts.backend.PreparedPut;
import io.sluice.experts.backend.PutBatch;
import io.sluice.experts.backend.SymmetricMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Another rank: its words, and all that is put to it again and again. The loop's alone. */
final class Peer {
    // of each kind and set that are kept for other sources and lengths of messages, of which LogFMT has some
    private static final int KEPT_BATCHES = 32;

    final int rank;

    /** Its window if both have mapped each other's. */
    final @Nullable MemorySegment mapped;

    final Word dispatchArrived;
    final Word combineArrived;
    final Word[] dispatchTaken = new Word[LowLatencyLayout.SETS];
    final Word[] combineTaken = new Word[LowLatencyLayout.SETS];
    private final Word left;

    /** Puts of the dispatches of a set. */
    final Sends[] dispatchSends = new Sends[LowLatencyLayout.SETS];

    /** Puts of the combines of a set. */
    final Sends[] combineSends = new Sends[LowLatencyLayout.SETS];

    /** Signals alone. */
    final Sends words;

    private final BufferHost host;
    private final CommBackend backend;
    private final LowLatencyLayout layout;
    private final PreparedPut announces;
    // by the logarithm of their length
    private final @Nullable PreparedPut[][] lists = new PreparedPut[LowLatencyLayout.SETS][Integer.SIZE];
    // by the number of messages; of each set those of whole elements, then the quantised
    private final @Nullable PreparedPut[][] together;
    private final @Nullable PreparedPut[][] returns;
    private final PreparedPut[] combine = new PreparedPut[LowLatencyLayout.SETS];
    private final PreparedPut[] takesDispatch = new PreparedPut[LowLatencyLayout.SETS];
    private final PreparedPut[] takesCombine = new PreparedPut[LowLatencyLayout.SETS];
    private final SymmetricMemory window;
    private final List<List<Batch>> batches = new ArrayList<>();
    private boolean lost;

    private record Batch(CommMemory source, SymmetricMemory target, int bytes, PutBatch pieces) {}

    Peer(
            BufferHost host,
            CommBackend backend,
            LowLatencyLayout layout,
            SymmetricMemory window,
            int rank,
            boolean mutual) {
        int own = backend.rank();
        this.rank = rank;
        this.host = host;
        this.backend = backend;
        this.window = window;
        this.layout = layout;
        this.mapped = mutual ? window.mapped(rank) : null;
        this.together = new PreparedPut[2 * LowLatencyLayout.SETS][layout.mostTogether() + 1];
        this.returns = new PreparedPut[LowLatencyLayout.SETS][layout.mostResultsTogether + 1];
        this.announces = word(LowLatencyLayout.dispatchArrivedAt(own));
        this.words = new Sends(host, rank);
        this.dispatchArrived = new Word(host, backend, window, LowLatencyLayout.dispatchArrivedAt(rank));
        this.combineArrived = new Word(host, backend, window, LowLatencyLayout.combineArrivedAt(rank));
        this.left = new Word(host, backend, window, LowLatencyLayout.leftAt(rank));
        for (int kind = 0; kind < LowLatencyLayout.COMBINE_BATCHES + LowLatencyLayout.SETS; kind++) {
            batches.add(new ArrayList<>());
        }
        for (int set = 0; set < LowLatencyLayout.SETS; set++) {
            dispatchTaken[set] = new Word(host, backend, window, LowLatencyLayout.dispatchTakenAt(rank, set));
            combineTaken[set] = new Word(host, backend, window, LowLatencyLayout.combineTakenAt(rank, set));
            dispatchSends[set] = new Sends(host, rank);
            combineSends[set] = new Sends(host, rank);
            takesDispatch[set] = word(LowLatencyLayout.dispatchTakenAt(own, set));
            takesCombine[set] = word(LowLatencyLayout.combineTakenAt(own, set));
            // into a mapped window the note is stored
            combine[set] = mapped == null
                    ? returns(set, LowLatencyLayout.NOTE_BYTES)
                    : word(LowLatencyLayout.combineArrivedAt(own));
        }
    }

    private PreparedPut word(long at) {
        return backend.preparePut(window, 0, window, 0, 0, at, rank);
    }

    /**
     * Returns the batch for pieces of one source and length.
     *
     * @param kind the set, of combines from {@link LowLatencyLayout#COMBINE_BATCHES} on
     */
    PutBatch batch(int kind, CommMemory source, SymmetricMemory target, int bytes) {
        List<Batch> known = batches.get(kind);
        for (int i = 0; i < known.size(); i++) {
            Batch each = known.get(i);
            if (each.bytes == bytes && each.source.equals(source) && each.target.equals(target)) {
                return each.pieces;
            }
        }
        if (known.size() >= KEPT_BATCHES) {
            known.removeIf(each -> each.pieces.size() == 0);
        }
        Batch added = new Batch(source, target, bytes, backend.prepareBatch(source, target, bytes, rank));
        known.add(added);
        return added.pieces;
    }

    /** Puts the pieces of all batches of a kind and set. */
    void startBatches(int kind, Sends sends) {
        List<Batch> known = batches.get(kind);
        for (int i = 0; i < known.size(); i++) {
            PutBatch pieces = known.get(i).pieces;
            if (pieces.size() > 0) {
                start(pieces, sends);
            }
        }
    }

    private void start(PutBatch pieces, Sends sends) {
        sends.begun();
        try {
            pieces.start(sends);
        } catch (SluiceException e) {
            sends.refused();
            host.putFailed(rank, e);
        }
    }

    /** Removes the pieces of all batches of a kind and set, which must have ended. */
    void clearBatches(int kind) {
        List<Batch> known = batches.get(kind);
        for (int i = 0; i < known.size(); i++) {
            known.get(i).pieces.clear();
        }
    }

    /** Says that all of a dispatch is there. */
    void announceDispatch(int set) {
        start(announces, dispatchSends[set]);
    }

    /**
     * Puts the beginning of a list, and says that all of a dispatch is there.
     *
     * @param bytes how much of the list there is
     */
    void announceDispatch(int set, long bytes) {
        int log = Long.SIZE - Long.numberOfLeadingZeros(bytes - 1);
        PreparedPut put = lists[set][log];
        if (put == null) {
            put = list(set, Math.min(1L << log, layout.listBytes()));
            lists[set][log] = put;
        }
        start(put, dispatchSends[set]);
    }

    private PreparedPut list(int set, long bytes) {
        int own = backend.rank();
        return backend.preparePut(
                window,
                layout.outboundAt(set, rank),
                window,
                layout.listAt(set, own),
                bytes,
                LowLatencyLayout.dispatchArrivedAt(own),
                rank);
    }

    /** Puts a list and the messages behind it, and says that all of a dispatch is there. */
    void putTogether(int set, int messages, DispatchFormat format) {
        @Nullable PreparedPut[] known = together[format.isQuantised() ? LowLatencyLayout.SETS + set : set];
        PreparedPut put = known[messages];
        if (put == null) {
            put = list(set, layout.messageIn(messages) + (long) messages * layout.messageBytes(format));
            known[messages] = put;
        }
        start(put, dispatchSends[set]);
    }

    /** Puts the note of a combine and the results that were collected, and says that all of it is there. */
    void putReturns(int set, int rows) {
        PreparedPut put = returns[set][rows];
        if (put == null) {
            put = returns(set, layout.togetherBytes(rows));
            returns[set][rows] = put;
        }
        start(put, combineSends[set]);
    }

    private PreparedPut returns(int set, long bytes) {
        int own = backend.rank();
        return backend.preparePut(
                window,
                layout.outboundNoteAt(set, rank),
                window,
                layout.combineNoteAt(set, own),
                bytes,
                LowLatencyLayout.combineArrivedAt(own),
                rank);
    }

    /** Puts the note of a combine unless it is stored there, and says that all of it is there. */
    void announceCombine(int set) {
        start(combine[set], combineSends[set]);
    }

    /** Says that a dispatch was received. */
    void takesDispatch(int set) {
        start(takesDispatch[set], words);
    }

    /** Says that a combine was received. */
    void takesCombine(int set) {
        start(takesCombine[set], words);
    }

    /** It has left the team, or is lost. */
    void isLost() {
        lost = true;
    }

    /** Whether it makes no more calls. */
    boolean isGone() {
        return lost || left.reached(1);
    }

    /** Whether it has closed its buffer. */
    boolean isClosed() {
        return left.reached(1) && (left.value() & LowLatencyLayout.CLOSED) != 0;
    }

    /** Says that this rank makes no more calls, and why. */
    void leaves(long why) {
        words.begun();
        try {
            backend.signal(window, LowLatencyLayout.leftAt(backend.rank()), why, rank, words);
        } catch (SluiceException e) {
            words.refused();
        }
    }

    private void start(PreparedPut put, Sends sends) {
        sends.begun();
        try {
            put.start(sends);
        } catch (SluiceException e) {
            sends.refused();
            host.putFailed(rank, e);
        }
    }

    void close() {
        dispatchArrived.close();
        combineArrived.close();
        left.close();
        for (int set = 0; set < LowLatencyLayout.SETS; set++) {
            dispatchTaken[set].close();
            combineTaken[set].close();
        }
    }
}
