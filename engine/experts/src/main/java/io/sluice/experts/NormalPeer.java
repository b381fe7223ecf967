package io.sluice.experts;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommCallback;
import io.sluice.experts.backend.PreparedPut;
import io.sluice.experts.backend.PutBatch;
import io.sluice.experts.backend.SymmetricMemory;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Another rank in normal mode: its words, and all that is put to it again and again. The loop's alone. */
final class NormalPeer {
    private static final Logger LOG = LoggerFactory.getLogger(NormalPeer.class);
    private static final CommCallback UNHEEDED = error -> {};

    final Word slotGranted;
    final Word countsArrived;
    final Word rowsArrived;
    final Word combineDone;
    final Word combineArrived;
    final Word left;

    private final int rank;
    private final Sends sends;
    private boolean lost;
    // by place
    private final PreparedPut[] slotNumber = new PreparedPut[NormalMemory.SLOTS];
    private final PreparedPut[] counts = new PreparedPut[NormalMemory.SLOTS];
    private final PreparedPut endOfRows;
    private final PreparedPut endOfCombine;
    private final PreparedPut doneCombine;
    private final PreparedPut leaves;
    // of a rank whose memory is not mapped
    private final @Nullable PutBatch codes;
    private final @Nullable PutBatch notes;
    private final @Nullable PutBatch notesWithScales;

    NormalPeer(BufferHost host, CommBackend backend, NormalMemory at, SymmetricMemory memory, int rank) {
        int own = backend.rank();
        this.rank = rank;
        this.slotGranted = new Word(host, backend, memory, at.slotGrantedAt(rank));
        this.countsArrived = new Word(host, backend, memory, at.countsArrivedAt(rank));
        this.rowsArrived = new Word(host, backend, memory, at.rowsArrivedAt(rank));
        this.combineDone = new Word(host, backend, memory, at.combineDoneAt(rank));
        this.combineArrived = new Word(host, backend, memory, at.combineArrivedAt(rank));
        this.left = new Word(host, backend, memory, at.leftAt(rank));
        this.sends = new Sends(host, rank);
        for (int place = 0; place < NormalMemory.SLOTS; place++) {
            slotNumber[place] = backend.preparePut(
                    memory,
                    at.ownSlotNumberAt(place),
                    memory,
                    at.slotNumberAt(place, own),
                    Long.BYTES,
                    at.slotGrantedAt(own),
                    rank);
            counts[place] = backend.preparePut(
                    memory,
                    at.ownCountsAt(place),
                    memory,
                    at.countsAt(place, own),
                    at.countsBytes(),
                    at.countsArrivedAt(own),
                    rank);
        }
        this.endOfRows = backend.preparePut(memory, 0, memory, 0, 0, at.rowsArrivedAt(own), rank);
        this.doneCombine = backend.preparePut(memory, 0, memory, 0, 0, at.combineDoneAt(own), rank);
        this.leaves = backend.preparePut(memory, 0, memory, 0, 0, at.leftAt(own), rank);
        boolean copied = memory.mapped(rank) == null;
        // into mapped memory the note is stored
        this.endOfCombine = backend.preparePut(
                memory,
                at.ownCombineNoteAt(),
                memory,
                at.combineNoteAt(own),
                copied ? Long.BYTES : 0,
                at.combineArrivedAt(own),
                rank);
        this.codes = copied ? backend.prepareBatch(memory, memory, at.hidden, rank) : null;
        this.notes = copied ? backend.prepareBatch(memory, memory, at.noteBytes(DispatchFormat.BF16), rank) : null;
        this.notesWithScales =
                copied ? backend.prepareBatch(memory, memory, at.noteBytes(DispatchFormat.FP8), rank) : null;
    }

    /** A batch for quantised vectors, of a rank whose memory is not mapped. */
    PutBatch codes() {
        return Objects.requireNonNull(codes);
    }

    /** A batch for notes, of a rank whose memory is not mapped. */
    PutBatch notes(DispatchFormat format) {
        return Objects.requireNonNull(format.isQuantised() ? notesWithScales : notes);
    }

    /** Says which slot a dispatch has here. */
    void grantSlot(int place) {
        startUnlessLeft(slotNumber[place]);
    }

    /** Says how many tokens go where. */
    void sendCounts(int place) {
        start(counts[place]);
    }

    /** Says that all rows of a dispatch are there. */
    void endRows() {
        start(endOfRows);
    }

    /** Says that all rows of a combine are there; puts its note unless it is stored there. */
    void endCombine() {
        start(endOfCombine);
    }

    /** Says that the memory of combines may be written again. */
    void doneCombine() {
        startUnlessLeft(doneCombine);
    }

    /** It is lost or has left the team. */
    void lost() {
        lost = true;
    }

    /** Says that this rank calls nothing more. */
    void leave() {
        try {
            startUnlessLeft(leaves);
        } catch (SluiceException e) {
            // a back end that has ended carries no word either, and has told the other ranks
            LOG.debug("rank {} is not told that this one leaves", rank, e);
        }
    }

    /** Starts what is of no use to a rank that has left, and whose failure others report if it matters. */
    private void startUnlessLeft(PreparedPut put) {
        if (lost || left.reached(1)) {
            return;
        }
        try {
            put.start(UNHEEDED);
        } catch (ConnectionLostException e) {
            LOG.debug("rank {} is not told what it needs no more", rank, e);
        }
    }

    private void start(PreparedPut put) {
        sends.begun();
        try {
            put.start(sends);
        } catch (RuntimeException e) {
            sends.refused();
            throw e;
        }
    }

    void start(PutBatch batch) {
        sends.begun();
        try {
            batch.start(sends);
        } catch (RuntimeException e) {
            sends.refused();
            throw e;
        }
    }

    /** Whether nothing that was sent there reads memory of this rank any more. */
    boolean isIdle() {
        return sends.isIdle();
    }

    void close() {
        slotGranted.close();
        countsArrived.close();
        rowsArrived.close();
        combineDone.close();
        combineArrived.close();
        left.close();
    }
}
