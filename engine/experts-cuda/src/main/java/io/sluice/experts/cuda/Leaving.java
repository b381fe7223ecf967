package io.sluice.experts.cuda;

import io.sluice.cuda.CudaException;
import io.sluice.cuda.GpuClosedException;
import io.sluice.cuda.GpuKernel;
import io.sluice.cuda.GpuStream;
import io.sluice.cuda.GpuWork;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferPriority;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Tells the other ranks, once, that this one makes no more calls: by a kernel behind what the stream has, so that what was sent before is
 * there. Any thread.
 */
final class Leaving {
    private static final long SHORTEST_NANOS = 20_000;
    private static final long LONGEST_NANOS = 5_000_000;

    private final BufferCore core;
    private final GpuKernel kernel;
    private final AtomicBoolean begun = new AtomicBoolean();
    private final CompletableFuture<@Nullable Void> told = new CompletableFuture<>();

    Leaving(BufferCore core, GpuKernel kernel) {
        this.core = core;
        this.kernel = kernel;
    }

    /**
     * Begins to tell them, and throws nothing.
     *
     * @param lost the rank why this one makes no more calls, perhaps itself
     * @return completes, never with an error, when the kernel is launched, or the team tells them; kernel, windows and stream stay open
     *     until then
     */
    CompletableFuture<@Nullable Void> begin(int lost) {
        if (begun.compareAndSet(false, true)) {
            Proxy proxy = core.proxy();
            if (proxy != null) {
                proxy.leave(lost);
            }
            if (isTold(core.stream(), lost)) {
                told.complete(null);
            } else {
                Thread.ofPlatform()
                        .daemon()
                        .name("sluice-gpu-experts-leave-" + core.rank())
                        .start(() -> tell(lost));
            }
        }
        return told;
    }

    /** Tries again until the stream has room and no other thread uses it. Pending calls of this rank end soon, as they were told to. */
    private void tell(int lost) {
        GpuStream own = null;
        long nap = SHORTEST_NANOS;
        try {
            // the end of a team is known to all
            while (!isTeamEnded() && !isTold(own == null ? core.stream() : own, lost)) {
                if (own == null
                        && isClosed(core.stream())
                        && core.stream().reached() >= core.stream().submitted()) {
                    own = GpuStream.create(core.stream().device(), TransferPriority.HIGH);
                }
                LockSupport.parkNanos(nap);
                nap = Math.min(2 * nap, LONGEST_NANOS);
            }
        } catch (SluiceException | IllegalArgumentException e) {
            core.team().revoke();
        } finally {
            if (own != null) {
                own.close();
            }
            told.complete(null);
        }
    }

    private boolean isTeamEnded() {
        return core.team().ended().toCompletableFuture().isDone();
    }

    private static boolean isClosed(GpuStream stream) {
        try {
            stream.handle();
            return false;
        } catch (GpuClosedException e) {
            return true;
        }
    }

    /** Whether no rank is left to be told. */
    private boolean isTold(GpuStream stream, int lost) {
        try {
            GpuWork work = core.leaving(stream, kernel, lost);
            if (work != null) {
                work.submit();
            }
            return true;
        } catch (TooManyPendingException | GpuClosedException | IllegalStateException refused) {
            // a window may have been closed, too: there is one fewer next time
            return false;
        } catch (CudaException e) {
            // the GPU does nothing any more
            core.team().revoke();
            return true;
        }
    }
}
