package io.sluice.vertx;

import io.sluice.engine.Connection;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.vertx.core.buffer.Buffer;
import org.jspecify.annotations.Nullable;

/** Reads from a peer's region into a new buffer. */
final class BufferRead extends BufferTransfer<Buffer> {
    private @Nullable Buffer buffer;

    BufferRead(
            ContextMailbox mailbox,
            StagingPool pool,
            @Nullable TransfersUnderWay underWay,
            Connection connection,
            RemoteRegion remote,
            long remoteOffset,
            int length,
            TransferOptions options) {
        super(mailbox, pool, underWay, connection, remote, remoteOffset, length, options);
    }

    @Override
    void fill(StagingSlot slot, int at, int bytes) {
        // the peer's bytes fill it
    }

    @Override
    boolean comes() {
        return true;
    }

    /** Not before the range was checked: a length may be anybody's. */
    private synchronized Buffer buffer() {
        Buffer made = buffer == null ? Buffer.buffer(length()) : buffer;
        buffer = made;
        return made;
    }

    /** Chunks may come in any order; the buffer grows to hold the one with the highest place. */
    @Override
    void empty(StagingSlot slot, int at, int bytes) {
        buffer().setBytes(at, slot.segment().asSlice(0, bytes).asByteBuffer());
    }

    @Override
    Transfer submit(
            Connection over,
            StagingSlot slot,
            RemoteRegion from,
            long offset,
            int bytes,
            TransferOptions chunkOptions,
            TransferCallback callback) {
        return over.read(slot.region(), slot.offset(), from, offset, bytes, chunkOptions, callback);
    }

    @Override
    Buffer value(int bytes) {
        return buffer();
    }
}
