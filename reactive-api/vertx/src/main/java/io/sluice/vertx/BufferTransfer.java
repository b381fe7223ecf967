package io.sluice.vertx;

import io.sluice.engine.Connection;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.sluice.engine.TransferTimeoutException;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Transfers the bytes of a buffer through slots of the staging region, chunk by chunk, as many at a time as there are
 * free slots. Bytes are copied on the caller's thread and then on its context.
 */
abstract class BufferTransfer<T> implements TransferHandle<T>, StagingPool.Taker {
    /** The most chunks in one turn of the context: they may all complete inside the call. */
    private static final int CHUNKS_A_TURN = 16;

    final Connection connection;
    final RemoteRegion remote;
    final long remoteOffset;
    final int length;
    private final ClientContext client;
    private final ContextMailbox mailbox;
    private final StagingPool pool;
    private final TransferOptions options;
    private final StageDelivery<T> delivery = new StageDelivery<>();
    private final CompletableFuture<Void> quiescence = new CompletableFuture<>();
    private final Future<T> result;
    private long timer = -1;

    // all guarded by this object
    private final Set<Chunk> chunks = new HashSet<>();
    private int position;
    private int slotsHeld;
    private boolean waiting;
    private boolean done;
    private @Nullable Throwable error;

    BufferTransfer(
            ClientContext client,
            Connection connection,
            RemoteRegion remote,
            long remoteOffset,
            int length,
            TransferOptions options) {
        this.client = client;
        this.mailbox = client.mailbox();
        this.pool = client.staging();
        this.connection = connection;
        this.remote = remote;
        this.remoteOffset = remoteOffset;
        this.length = length;
        this.options = options;
        this.result = mailbox.future(delivery.end());
    }

    /** Writes a buffer into a peer's region. */
    static final class Write extends BufferTransfer<TransferResult> {
        private final Buffer buffer;

        Write(
                ClientContext client,
                Connection connection,
                Buffer buffer,
                RemoteRegion remote,
                long remoteOffset,
                TransferOptions options) {
            super(client, connection, remote, remoteOffset, buffer.length(), options);
            this.buffer = buffer;
        }

        /** Copies twice, because a buffer does not expose its memory. */
        @Override
        Transfer submit(StagingPool.Slot slot, int at, int bytes, TransferOptions ofChunk, TransferCallback end) {
            try {
                byte[] taken = buffer.getBytes(at, at + bytes);
                MemorySegment.copy(taken, 0, slot.segment(), ValueLayout.JAVA_BYTE, 0, bytes);
            } catch (IllegalStateException gone) {
                // the client may have closed the staging memory since the slot was taken
                throw slot.region().isOpen() ? gone : OpenWork.clientClosed();
            }
            return connection.write(slot.region(), slot.offset(), remote, remoteOffset + at, bytes, ofChunk, end);
        }

        @Override
        boolean reads() {
            return false;
        }

        @Override
        void empty(StagingPool.Slot slot, int at, int bytes) {
            // a write receives nothing
        }

        @Override
        TransferResult value() {
            return new TransferResult(0, length, null);
        }
    }

    /** Reads from a peer's region into a new buffer. */
    static final class Read extends BufferTransfer<Buffer> {
        private @Nullable Buffer buffer;

        Read(
                ClientContext client,
                Connection connection,
                RemoteRegion remote,
                long remoteOffset,
                int length,
                TransferOptions options) {
            super(client, connection, remote, remoteOffset, length, options);
        }

        @Override
        Transfer submit(StagingPool.Slot slot, int at, int bytes, TransferOptions ofChunk, TransferCallback end) {
            return connection.read(slot.region(), slot.offset(), remote, remoteOffset + at, bytes, ofChunk, end);
        }

        @Override
        boolean reads() {
            return true;
        }

        /** Chunks may arrive in any order; the buffer grows to hold the one with the highest index. */
        @Override
        void empty(StagingPool.Slot slot, int at, int bytes) {
            value().setBytes(at, slot.segment().asSlice(0, bytes).asByteBuffer());
        }

        /** Allocated only after the range was checked: the caller's length may be far too large. */
        @Override
        synchronized Buffer value() {
            Buffer made = buffer == null ? Buffer.buffer(length) : buffer;
            buffer = made;
            return made;
        }
    }

    /** Submits one chunk; a write copies its bytes into the slot first. */
    abstract Transfer submit(StagingPool.Slot slot, int at, int bytes, TransferOptions ofChunk, TransferCallback end);

    /** Whether it reads, so that slots are emptied after their chunks. */
    abstract boolean reads();

    /** Empties a slot after its chunk has arrived. On the context. */
    abstract void empty(StagingPool.Slot slot, int at, int bytes);

    /** The result of success. */
    abstract T value();

    /** Starts; an error fails the future. */
    final BufferTransfer<T> start() {
        if (!client.begin(this)) {
            fail(OpenWork.clientClosed());
            return this;
        }
        try {
            if (options.startAfter() != null || options.completeInto() != null) {
                throw new IllegalArgumentException(
                        "a transfer of a buffer is many transfers: leave out startAfter and completeInto");
            }
            if (!remote.connection().equals(connection)) {
                throw new IllegalArgumentException(
                        "the region was attached on " + remote.connection().id() + ", not on this connection, "
                                + connection.id() + "; attach it here");
            }
            Objects.checkFromIndexSize(remoteOffset, length, remote.length());
            startTimer();
        } catch (RuntimeException mistake) {
            fail(mistake);
            return this;
        }
        pump(null);
        if (client.closedTransfers()) {
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
                            id -> fail(new TransferTimeoutException(
                                    "the " + length + " bytes of the buffer were not transferred within " + deadline)));
        }
    }

    /** Starts chunks while there are slots. */
    private void pump(StagingPool.@Nullable Slot granted) {
        StagingPool.Slot slot = granted;
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

    private void send(StagingPool.Slot slot) {
        Chunk chunk;
        synchronized (this) {
            waiting = false;
            chunk = new Chunk(slot, position, Math.min(slot.bytes(), length - position));
            position += chunk.bytes;
            slotsHeld++;
            chunks.add(chunk);
        }
        try {
            TransferOptions ofChunk = new TransferOptions(null, options.priority(), null, null);
            chunk.submitted(submit(slot, chunk.at, chunk.bytes, ofChunk, chunk));
        } catch (RuntimeException refused) {
            released(slot);
            chunkEnded(chunk, refused);
        }
    }

    @Override
    public final void granted(StagingPool.Slot slot) {
        later(slot);
    }

    /** Continues on the context. */
    private void later(StagingPool.@Nullable Slot slot) {
        mailbox.deliver(new ContextMailbox.Delivery() {
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

    private void released(StagingPool.Slot slot) {
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
        client.end(this);
        delivery.ended(failure == null ? value() : null, failure);
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

    /** The part of the buffer in one slot. */
    private final class Chunk implements TransferCallback {
        private final StagingPool.Slot slot;
        private final int at;
        private final int bytes;
        private volatile @Nullable Transfer transfer;

        Chunk(StagingPool.Slot slot, int at, int bytes) {
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
            if (!reads()) {
                released(slot);
                chunkEnded(this, null);
                return;
            }
            mailbox.deliver(new ContextMailbox.Delivery() {
                @Override
                void deliver() {
                    Throwable gone = taken();
                    released(slot);
                    chunkEnded(Chunk.this, gone);
                }
            });
        }

        /** The bytes are lost if the staging memory was closed meanwhile, together with the engine. */
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
