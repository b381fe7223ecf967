package io.sluice.vertx;

import io.sluice.engine.Connection;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.vertx.core.buffer.Buffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** Writes a buffer into a peer's region. */
final class BufferWrite extends BufferTransfer<TransferResult> {
    private final Buffer buffer;

    BufferWrite(
            ContextMailbox mailbox,
            StagingPool pool,
            @Nullable TransfersUnderWay underWay,
            Connection connection,
            Buffer buffer,
            RemoteRegion remote,
            long remoteOffset,
            TransferOptions options) {
        super(mailbox, pool, underWay, connection, remote, remoteOffset, buffer.length(), options);
        this.buffer = buffer;
    }

    /** Twice copied, as a buffer does not show its memory. */
    @Override
    void fill(StagingSlot slot, int at, int bytes) {
        byte[] taken = buffer.getBytes(at, at + bytes);
        MemorySegment.copy(taken, 0, slot.segment(), ValueLayout.JAVA_BYTE, 0, bytes);
    }

    @Override
    boolean comes() {
        return false;
    }

    @Override
    void empty(StagingSlot slot, int at, int bytes) {
        // nothing has come
    }

    @Override
    Transfer submit(
            Connection over,
            StagingSlot slot,
            RemoteRegion to,
            long offset,
            int bytes,
            TransferOptions chunkOptions,
            TransferCallback callback) {
        return over.write(slot.region(), slot.offset(), to, offset, bytes, chunkOptions, callback);
    }

    @Override
    TransferResult value(int bytes) {
        return new TransferResult(0, bytes, null);
    }
}
