package io.sluice.experts.sluice;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOperations;
import io.sluice.engine.TransferOptions;
import io.sluice.experts.backend.CommCallback;
import io.sluice.experts.backend.PreparedPut;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** A write with a signal, or a signal alone, that is started again and again. */
final class SluicePut implements PreparedPut {
    // one that has arrived at the other rank may not have ended here
    private static final int RUNS = 2;

    private final @Nullable MemoryRegion source;
    private final long sourceOffset;
    private final RemoteRegion target;
    private final long targetOffset;
    private final long bytes;
    private final SignalUpdate signal;
    private final @Nullable Run[] runs = new Run[RUNS];

    /**
     * Creates one.
     *
     * @param source null for the signal alone
     */
    SluicePut(
            @Nullable MemoryRegion source,
            long sourceOffset,
            RemoteRegion target,
            long targetOffset,
            long bytes,
            SignalUpdate signal) {
        this.source = source;
        this.sourceOffset = sourceOffset;
        this.target = target;
        this.targetOffset = targetOffset;
        this.bytes = bytes;
        this.signal = signal;
    }

    @Override
    public void start(CommCallback callback) {
        // what was stored into mapped memory comes first
        VarHandle.releaseFence();
        for (int i = 0; i < RUNS; i++) {
            Run run = runs[i];
            if (run == null) {
                run = new Run();
                run.transfer = transfer(target.connection().prepared(), run);
                runs[i] = run;
            }
            if (run.callback == null) {
                run.start(callback);
                return;
            }
        }
        transfer(target.connection(), (ended, error) -> callback.ended(error));
    }

    private <T extends Transfer> T transfer(TransferOperations<T> operations, TransferCallback callback) {
        MemoryRegion from = source;
        return from == null
                ? operations.signal(signal, TransferOptions.defaults(), callback)
                : operations.writeWithSignal(
                        from, sourceOffset, target, targetOffset, bytes, signal, TransferOptions.defaults(), callback);
    }

    /** One of the transfers that may be under way. */
    private static final class Run implements TransferCallback {
        private @Nullable PreparedTransfer transfer;
        private @Nullable CommCallback callback;

        void start(CommCallback whenEnded) {
            PreparedTransfer prepared = transfer;
            if (prepared == null) {
                throw new IllegalStateException("the transfer is not prepared");
            }
            callback = whenEnded;
            try {
                prepared.start();
            } catch (RuntimeException e) {
                callback = null;
                throw e;
            }
        }

        @Override
        public void terminated(Transfer ended, @Nullable SluiceException error) {
            CommCallback told = callback;
            callback = null;
            if (told != null) {
                told.ended(error);
            }
        }
    }
}
