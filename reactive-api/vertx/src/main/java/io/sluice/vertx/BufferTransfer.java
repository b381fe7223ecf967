package io.sluice.vertx;

import io.sluice.engine.Connection;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Moves the bytes of a buffer through slots of the staging region, chunk by chunk, as many at a time as there are free slots. Bytes
 * are copied on the caller's thread and then on its context.
 */
abstract class BufferTransfer<T> implements TransferHandle<T>, SlotTaker {
    /** How many chunks may go before the context is given back for a while: they may all complete inside the call. */
    private static final int CHUNKS_A_TURN = 16;

    private final ContextMailbox mailbox;
    private final StagingPool pool;
    private final @Nullable TransfersUnderWay underWay;
    private final Connection connection;
    private final RemoteRegion remote;
    private final long remoteOffset;
    private final int length;
    private final TransferOptions options;
    private final StageDelivery<T> delivery = new StageDelivery<>();
    private final CompletableFuture<Void> quiescence = new CompletableFuture<>();
    private final Future<T> result;
    private long timer = -1;

    // All guarded by this object.
    private final Set<Chunk> chunks = new HashSet<>();
    private int position;
    private int slotsHeld;
    private boolean waiting;
    private boolean done;
    private @Nullable Throwable error;

    BufferTransfer(
            ContextMailbox mailbox,
            StagingPool pool,
            @Nullable TransfersUnderWay underWay,
            Connection connection,
            RemoteRegion remote,
            long remoteOffset,
            int length,
            TransferOptions options) {
        this.mailbox = mailbox;
        this.pool = pool;
        this.underWay = underWay;
        this.connection = connection;
        this.remote = remote;
        this.remoteOffset = remoteOffset;
        this.length = length;
        this.options = options;
        this.result = mailbox.future(delivery.end());
    }

    /** Fills a slot before its chunk goes, if that is the way the bytes go. */
    abstract void fill(StagingSlot slot, int at, int bytes);

    /** Whether bytes come, so that a slot has to be emptied. */
    abstract boolean comes();

    /** Empties a slot after its chunk has come. On the context. */
    abstract void empty(StagingSlot slot, int at, int bytes);

    abstract Transfer submit(
            Connection over,
            StagingSlot slot,
            RemoteRegion to,
            long offset,
            int bytes,
            TransferOptions chunkOptions,
            TransferCallback callback);

    /** What a success gives. */
    abstract T value(int bytes);

    /** How many bytes it is asked for; checked once it has begun. */
    final int length() {
        return length;
    }

    /** Begins; what is wrong is the result. */
    final BufferTransfer<T> start() {
        if (underWay != null && !underWay.begin(this)) {
            fail(TransfersUnderWay.closed());
            return this;
        }
        try {
            if (options.startAfter() != null || options.completeInto() != null) {
                throw new IllegalArgumentException(
                        "a transfer of a buffer is many, and neither starts after an event nor"
                                + " completes into one");
            }
            if (!remote.connection().equals(connection)) {
                throw new IllegalArgumentException("the region was attached on another connection");
            }
            Objects.checkFromIndexSize(remoteOffset, length, remote.length());
            startTimer();
        } catch (RuntimeException mistake) {
            fail(mistake);
            return this;
        }
        pump(null);
        if (underWay != null && underWay.isClosed()) {
            cancel();
        }
        return this;
    }

    private void startTimer() {
        Duration deadline = options.deadline();
        if (deadline != null) {
            timer = mailbox.context()
                    .owner()
                    .setTimer(
                            Math.max(1, deadline.toMillis()),
                            id -> fail(
                                    new TransferTimeoutException("the buffer was not transferred within " + deadline)));
        }
    }

    /** Lets chunks go as long as there are slots. */
    private void pump(@Nullable StagingSlot granted) {
        StagingSlot slot = granted;
        int sent = 0;
        while (true) {
            synchronized (this) {
                if (error != null || position == length) {
                    waiting = false;
                    break;
                }
                waiting = true;
            }
            if (sent == CHUNKS_A_TURN) {
                later(null);
                return;
            }
            if (slot == null) {
                try {
                    slot = pool.acquire(this);
                } catch (SluiceException refused) {
                    refused(refused);
                    return;
                }
                if (slot == null) {
                    return;
                }
            }
            send(slot);
            sent++;
            slot = null;
        }
        if (slot != null) {
            pool.release(slot);
        }
        finishIfDone();
    }

    private void send(StagingSlot slot) {
        Chunk chunk;
        synchronized (this) {
            waiting = false;
            chunk = new Chunk(slot, position, Math.min(slot.bytes(), length - position));
            position += chunk.bytes;
            slotsHeld++;
            chunks.add(chunk);
        }
        try {
            fillOpen(slot, chunk.at, chunk.bytes);
            TransferOptions ofChunk = new TransferOptions(null, options.priority(), null, null);
            chunk.submitted(submit(connection, slot, remote, remoteOffset + chunk.at, chunk.bytes, ofChunk, chunk));
        } catch (RuntimeException refused) {
            released(slot);
            chunkEnded(chunk, refused);
        }
    }

    /** The staging memory may have been closed since the slot was taken, with the client. */
    private void fillOpen(StagingSlot slot, int at, int bytes) {
        try {
            fill(slot, at, bytes);
        } catch (IllegalStateException gone) {
            throw slot.region().isOpen() ? gone : TransfersUnderWay.closed();
        }
    }

    @Override
    public final void granted(StagingSlot slot) {
        later(slot);
    }

    /** Goes on, on the context. */
    private void later(@Nullable StagingSlot slot) {
        mailbox.deliver(new Delivery() {
            @Override
            void deliver() {
                pump(slot);
            }
        });
    }

    @Override
    public final void refused(SluiceException refusal) {
        synchronized (this) {
            waiting = false;
        }
        fail(refusal);
    }

    private void released(StagingSlot slot) {
        pool.release(slot);
        boolean last;
        synchronized (this) {
            slotsHeld--;
            last = done && slotsHeld == 0;
        }
        if (last) {
            quiescence.complete(null);
        }
    }

    private void chunkEnded(Chunk chunk, @Nullable Throwable failure) {
        synchronized (this) {
            chunks.remove(chunk);
        }
        if (failure == null) {
            finishIfDone();
        } else {
            fail(failure);
        }
    }

    private void fail(Throwable failure) {
        List<Chunk> cancelled;
        synchronized (this) {
            if (done) {
                return;
            }
            error = error == null ? failure : error;
            cancelled = new ArrayList<>(chunks);
        }
        if (pool.forget(this)) {
            synchronized (this) {
                waiting = false;
            }
        }
        cancelled.forEach(Chunk::cancel);
        finishIfDone();
    }

    private void finishIfDone() {
        boolean quiet;
        Throwable failure;
        synchronized (this) {
            failure = error;
            if (done || waiting || !chunks.isEmpty() || (failure == null && position < length)) {
                return;
            }
            done = true;
            quiet = slotsHeld == 0;
        }
        if (timer >= 0) {
            mailbox.context().owner().cancelTimer(timer);
        }
        if (quiet) {
            quiescence.complete(null);
        }
        if (underWay != null) {
            underWay.end(this);
        }
        delivery.ended(failure == null ? value(length) : null, failure);
        mailbox.deliver(delivery);
    }

    @Override
    public final Future<T> result() {
        return result;
    }

    @Override
    public final void cancel() {
        fail(new TransferCancelledException("the transfer of a buffer was cancelled"));
    }

    @Override
    public final Future<Void> quiesced() {
        return mailbox.whenEnded(quiescence);
    }

    /** What is in one slot. */
    private final class Chunk implements TransferCallback {
        private final StagingSlot slot;
        private final int at;
        private final int bytes;
        private volatile @Nullable Transfer transfer;

        Chunk(StagingSlot slot, int at, int bytes) {
            this.slot = slot;
            this.at = at;
            this.bytes = bytes;
        }

        void submitted(Transfer submission) {
            transfer = submission;
            boolean late;
            synchronized (BufferTransfer.this) {
                late = error != null;
            }
            if (late) {
                submission.cancel();
            }
        }

        void cancel() {
            Transfer submission = transfer;
            if (submission != null) {
                submission.cancel();
            }
        }

        @Override
        public void terminated(Transfer ended, @Nullable SluiceException failure) {
            if (failure != null) {
                ended.quiesced().whenComplete((nothing, never) -> released(slot));
                chunkEnded(this, failure);
                return;
            }
            if (!comes()) {
                released(slot);
                chunkEnded(this, null);
                return;
            }
            mailbox.deliver(new Delivery() {
                @Override
                void deliver() {
                    Throwable gone = taken();
                    released(slot);
                    chunkEnded(Chunk.this, gone);
                }
            });
        }

        /** What has come is lost if the staging memory was closed meanwhile, with the engine. */
        private @Nullable Throwable taken() {
            try {
                empty(slot, at, bytes);
                return null;
            } catch (RuntimeException closed) {
                return new RegionClosedException(
                        "the staging memory was closed before the bytes were taken from it", closed);
            }
        }
    }
}
