package io.sluice.samples.bench;

import io.sluice.engine.FetchCallback;
import io.sluice.engine.PageCallback;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.VectoredTransferCallback;
import java.util.BitSet;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Starts transfers of the engine's own interface that were prepared before: each is started again and again, and prepared
 * once more only while all those like it are running.
 */
final class PreparedSubmission implements Submission {
    private final Preparation preparation;
    private final @Nullable Retargeting retargeting;
    private final @Nullable Prepared[] idle;
    private final @Nullable Prepared[] running;

    @FunctionalInterface
    interface Preparation {
        PreparedTransfer prepare(int transfer, Prepared callback);
    }

    @FunctionalInterface
    interface Retargeting {
        void retarget(PreparedTransfer prepared, int transfer);
    }

    private PreparedSubmission(int slots, int kinds, Preparation preparation, @Nullable Retargeting retargeting) {
        this.preparation = preparation;
        this.retargeting = retargeting;
        this.idle = new Prepared[kinds];
        this.running = new Prepared[slots];
    }

    /** Each of the different transfers is prepared by itself, here and now. */
    static Submission each(int slots, int differentTransfers, Preparation preparation) {
        PreparedSubmission submission = new PreparedSubmission(slots, differentTransfers, preparation, null);
        for (int transfer = 0; transfer < differentTransfers; transfer++) {
            submission.idle[transfer] = submission.prepared(transfer, transfer);
        }
        return submission;
    }

    /** A transfer prepared for one element can be retargeted to any other. */
    static Submission any(int slots, Preparation preparation, Retargeting retargeting) {
        return new PreparedSubmission(slots, 1, preparation, retargeting);
    }

    @Override
    public void submit(Slot slot, int transfer) {
        int kind = retargeting == null ? transfer : 0;
        Prepared prepared = idle[kind];
        if (prepared == null) {
            prepared = prepared(kind, transfer);
        } else {
            idle[kind] = prepared.next;
        }
        running[slot.index()] = prepared;
        prepared.start(slot, transfer);
    }

    @Override
    public void ended(Slot slot) {
        Prepared prepared = Objects.requireNonNull(running[slot.index()], "it was started");
        prepared.next = idle[prepared.kind];
        idle[prepared.kind] = prepared;
    }

    private Prepared prepared(int kind, int transfer) {
        Prepared prepared = new Prepared(kind);
        prepared.transfer = preparation.prepare(transfer, prepared);
        return prepared;
    }

    /** One of them, and the callback of all its runs. */
    final class Prepared implements VectoredTransferCallback, PageCallback, FetchCallback {
        private final int kind;
        private @Nullable PreparedTransfer transfer;
        private @Nullable Slot slot;
        private @Nullable Prepared next;

        private Prepared(int kind) {
            this.kind = kind;
        }

        private void start(Slot forSlot, int which) {
            slot = forSlot;
            PreparedTransfer mine = Objects.requireNonNull(transfer, "prepared before it is started");
            if (retargeting != null) {
                retargeting.retarget(mine, which);
            }
            mine.start();
        }

        private Slot slot() {
            return Objects.requireNonNull(slot, "a callback comes after the start");
        }

        @Override
        public void element(int element, @Nullable SluiceException error) {
            slot().element(element, error);
        }

        @Override
        public void terminated(Transfer ended, @Nullable SluiceException error) {
            slot().terminated(ended, error);
        }

        @Override
        public void terminated(Transfer ended, BitSet failed, @Nullable SluiceException error) {
            slot().terminated(ended, error);
        }

        @Override
        public void terminated(Transfer ended, long previous, @Nullable SluiceException error) {
            slot().terminated(ended, previous, error);
        }
    }
}
