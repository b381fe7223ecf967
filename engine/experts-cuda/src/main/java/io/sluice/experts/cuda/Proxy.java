package io.sluice.experts.cuda;

import io.sluice.cuda.GpuClosedException;
import io.sluice.cuda.GpuStream;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.experts.ExpertsLostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Carries what kernels have stored for ranks whose memory this rank's GPU does not reach, by transfers on the team's connections: first
 * the rows, then the word that the kernels there wait for. A source of the team's loop looks for it as long as calls are under way, less
 * often the longer that takes. On the loop, unless it says otherwise.
 */
final class Proxy implements EngineLoop.Source {
    // a look that finds calls under way takes all of it, and is followed by another
    private static final int BUDGET = 2;
    private static final long SPIN_NANOS = 50_000;
    private static final long SHORTEST_PAUSE_NANOS = 20_000;
    private static final long LONGEST_PAUSE_NANOS = 500_000;
    private static final int PARTS_OF_WAIT = 8;
    private static final int NONE = -1;

    private final BufferCore core;
    private final GpuStream stream;
    private final ProxyMemory memory;
    private final List<ProxiedCall> calls = new ArrayList<>();
    private final EngineLoop.SourceHandle source;
    private final CompletableFuture<@Nullable Void> left = new CompletableFuture<>();
    private final AtomicInteger lost = new AtomicInteger(NONE);
    // the last call's in the stream
    private final AtomicLong last = new AtomicLong();
    private volatile long activeAt;
    private volatile boolean isTeamEnded;
    private int wordsOfLeaving;
    private boolean isLeaving;
    private boolean awaitsStream;
    private boolean hasStreamEnded;

    /** Made when the buffer is; the last argument is where the low-latency part of a window begins. */
    Proxy(BufferCore core, ProxyMemory memory, long partAt) {
        this.core = core;
        this.stream = core.stream();
        this.memory = memory;
        for (int i = 0; i < ProxyMemory.CALLS; i++) {
            calls.add(new ProxiedCall(this, memory, i, core.rank(), partAt));
        }
        this.source = core.team().loop().addSource(this, BUDGET);
        core.team().ended().whenComplete((nothing, why) -> {
            isTeamEnded = true;
            source.signal();
        });
    }

    ProxyMemory memory() {
        return memory;
    }

    // ---- any thread ----

    /** A call was started, with a number in the stream. Allocates nothing. */
    void started(long number) {
        activeAt = System.nanoTime();
        last.accumulateAndGet(number, Math::max);
        source.signal();
    }

    /**
     * Tells the ranks, once, that this one makes no more calls: when what was started has ended, behind what that had sent.
     *
     * @param why the rank that is lost, perhaps this one
     */
    void leave(int why) {
        lost.compareAndSet(NONE, why);
        source.signal();
    }

    /** Completes, never with an error, when the ranks that are there know that this one has left; {@link #leave} comes before. */
    CompletableFuture<@Nullable Void> close() {
        return left.whenComplete((nothing, never) -> source.close());
    }

    /** No call will be started. */
    void abandon() {
        left.complete(null);
        source.close();
    }

    // ---- the loop ----

    @Override
    public int poll(int budget) {
        if (left.isDone()) {
            return 0;
        }
        // before the looks: what a kernel has said before it ended is seen
        boolean isThrough = hasStreamEnded || stream.reached() >= last.get();
        boolean isIdle = true;
        for (int i = 0; i < calls.size(); i++) {
            ProxiedCall call = calls.get(i);
            if (call.begin()) {
                activeAt = System.nanoTime();
            }
            isIdle &= call.isIdle();
        }
        if (core.words().failure() instanceof ExpertsLostException error && lost.get() == NONE) {
            lost.compareAndSet(NONE, error.ranks().iterator().next());
        }
        if (lost.get() != NONE && !isLeaving) {
            if (isTeamEnded || (isThrough && isIdle)) {
                isLeaving = true;
                tellAll();
            } else if (!isThrough) {
                awaitStream();
            }
        }
        if (isThrough || isTeamEnded) {
            // the end of a transfer signals
            return 0;
        }
        long now = System.nanoTime();
        long waited = now - activeAt;
        if (waited < SPIN_NANOS) {
            return budget;
        }
        source.signalAt(now + Math.clamp(waited / PARTS_OF_WAIT, SHORTEST_PAUSE_NANOS, LONGEST_PAUSE_NANOS));
        return 0;
    }

    /** A stream whose GPU has failed does not come to what it was given. */
    private void awaitStream() {
        if (awaitsStream) {
            return;
        }
        awaitsStream = true;
        try {
            stream.onReached(core.team().loop(), (wait, number, error) -> {
                        wait.close();
                        awaitsStream = false;
                        hasStreamEnded = error != null;
                        source.signal();
                    })
                    .arm(last.get());
        } catch (GpuClosedException closed) {
            // kernels may still run: the looks go on, and a stream that is released has reached all
        }
    }

    /** What a call had to carry has ended. */
    void ended() {
        activeAt = System.nanoTime();
        source.signal();
    }

    /**
     * What was to be carried to a rank has not come there, or may not.
     *
     * @param isNeeded whether calls there that are under way wait for it
     */
    void failed(ProxiedRank to, boolean isNeeded, Throwable error) {
        if (isTeamEnded || hasClosed(error)) {
            // it had said so before, to the kernels that wait for it
            return;
        }
        SluiceException why = error instanceof SluiceException known
                ? known
                : new SluiceException(
                        "rank %d of %s cannot carry a call to rank %d: %s"
                                .formatted(core.rank(), core.team(), to.rank(), error),
                        error);
        if (!isLoss(error)) {
            core.words().fail(why);
        } else if (isNeeded || (error instanceof OutcomeUnknownException && to.isConnected())) {
            // a rank that goes on waits for each word, and a lane may have lost this one
            core.lose(to.rank(), why);
        }
    }

    /** Whether a rank has closed its window. */
    private static boolean hasClosed(Throwable error) {
        return error instanceof StaleDescriptorException
                || (error instanceof RemoteAccessException refused
                        && refused.reason() == RemoteAccessException.Reason.UNKNOWN_REGION)
                || (error.getCause() != null && hasClosed(error.getCause()));
    }

    private static boolean isLoss(Throwable error) {
        return error instanceof ConnectionLostException
                || error instanceof ConnectionClosedException
                || error instanceof OutcomeUnknownException
                || (error.getCause() != null && isLoss(error.getCause()));
    }

    private void tellAll() {
        wordsOfLeaving = 1;
        for (ProxiedRank each : memory.ranks()) {
            if (!isTeamEnded) {
                tell(each);
            }
        }
        toldOne();
    }

    private void tell(ProxiedRank to) {
        wordsOfLeaving++;
        try {
            to.window()
                    .connection()
                    .put(
                            to.window(),
                            (long) core.rank() * Long.BYTES,
                            lost.get() + 1L,
                            Long.BYTES,
                            ProxiedRank.OPTIONS,
                            (transfer, ignored) -> toldOne());
        } catch (RuntimeException itHasLeftToo) {
            toldOne();
        }
    }

    private void toldOne() {
        if (--wordsOfLeaving == 0) {
            left.complete(null);
        }
    }

    @Override
    public void removed(@Nullable Throwable cause) {
        if (left.isDone()) {
            return;
        }
        // a team ends with its engine
        if (cause != null && !(cause instanceof ConnectionClosedException)) {
            core.words()
                    .fail(new SluiceException(
                            "rank %d of %s carries no call any more: %s".formatted(core.rank(), core.team(), cause),
                            cause));
        }
        left.complete(null);
    }

    @Override
    public String toString() {
        return "what carries calls of an expert buffer to ranks that its GPU does not reach";
    }
}
