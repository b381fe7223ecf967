package io.sluice.engine.flow;

import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A transfer of many elements, each with its own result. */
final class VectoredTransfer extends DataTransfer {
    private static final Logger LOG = LoggerFactory.getLogger(VectoredTransfer.class);

    private final WorkRequest.Opcode operation;
    private final ElementPlan[] plan;
    private final VectoredTransferCallback callback;
    private final BitSet ended;
    private final long bytes;
    private final boolean onePath;
    private int unfinished;
    private int failed;
    private @Nullable SluiceException firstError;
    private boolean silenced;

    VectoredTransfer(
            OwningFlow flow,
            WorkRequest.Opcode operation,
            ElementPlan[] plan,
            TransferOptions options,
            VectoredTransferCallback callback) {
        super(flow, options);
        this.operation = operation;
        this.plan = plan;
        this.callback = callback;
        this.ended = new BitSet(plan.length);
        int path = plan[0].remote().path();
        boolean same = true;
        long sum = 0;
        for (ElementPlan element : plan) {
            same &= element.remote().path() == path;
            sum = element.length() > Long.MAX_VALUE - sum ? Long.MAX_VALUE : sum + element.length();
        }
        this.bytes = sum;
        this.onePath = same;
    }

    @Override
    void reset() {
        super.reset();
        ended.clear();
        unfinished = plan.length;
        failed = 0;
        firstError = null;
        silenced = false;
    }

    @Override
    EngineMetrics.Operation kind() {
        return operation == WorkRequest.Opcode.WRITE ? EngineMetrics.Operation.WRITE : EngineMetrics.Operation.READ;
    }

    @Override
    long totalBytes() {
        return bytes;
    }

    @Override
    int operations() {
        return plan.length;
    }

    @Override
    WorkRequest.Opcode operation(int element) {
        return operation;
    }

    @Override
    boolean isOfOnePath() {
        return onePath;
    }

    @Override
    boolean ordersAfter(StartEvent event) {
        return isOfOnePath() && super.ordersAfter(event);
    }

    @Override
    boolean mayCompleteOnDevice() {
        return isOfOnePath();
    }

    @Override
    void countRefused(FlowFigures figures, SluiceException error) {
        for (ElementPlan element : plan) {
            figures.countRefused(element.remote().path(), kind(), 1, element.length(), error);
        }
    }

    @Override
    int elements() {
        return plan.length;
    }

    @Override
    LeasedMemory local(int element) {
        return plan[element].local();
    }

    @Override
    long localOffset(int element) {
        return plan[element].localOffset();
    }

    @Override
    RemoteKey remote(int element) {
        return plan[element].remote();
    }

    @Override
    long remoteOffset(int element) {
        return plan[element].remoteOffset();
    }

    @Override
    long length(int element) {
        return plan[element].length();
    }

    @Override
    long callerThreadBytes() {
        return bytes;
    }

    @Override
    void elementsCarriedOut() {
        for (int i = 0; i < plan.length && !isCancelRequested(); i++) {
            tell(i, null);
        }
    }

    @Override
    boolean elementEnded(int element, @Nullable SluiceException error, long postedAt) {
        count(plan[element].remote().path(), error, plan[element].length(), postedAt);
        end(element, error, true);
        return unfinished == 0;
    }

    @Override
    void endUnfinished(SluiceException error, boolean report) {
        for (int i = ended.nextClearBit(0); i < plan.length; i = ended.nextClearBit(i + 1)) {
            countFailed(plan[i].remote().path(), error, plan[i].length());
            end(i, error, report);
        }
    }

    @Override
    @Nullable
    SluiceException outcome() {
        if (silenced) {
            return new TransferCancelledException("the transfer was cancelled");
        }
        SluiceException first = firstError;
        return first == null ? null : new ElementsFailedException(failed, plan.length, first);
    }

    private void end(int element, @Nullable SluiceException error, boolean report) {
        ended.set(element);
        unfinished--;
        if (error != null) {
            failed++;
            if (firstError == null) {
                firstError = error;
            }
        }
        // a cancel holds from the moment it is asked for, though the poller learns of it later
        if (isCancelRequested()) {
            silenced = true;
        } else if (report) {
            tell(element, error);
        }
    }

    private void tell(int element, @Nullable SluiceException error) {
        try {
            callback.element(element, error);
        } catch (Throwable e) {
            LOG.error("the callback of a {} on {} threw an exception", kind(), flow().connection(), e);
        }
    }

    @Override
    void deliver(@Nullable SluiceException error) {
        callback.terminated(this, error);
    }
}
