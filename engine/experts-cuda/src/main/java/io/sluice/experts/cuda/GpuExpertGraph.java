package io.sluice.experts.cuda;

import io.sluice.cuda.GpuGraph;
import io.sluice.cuda.GpuWork;
import io.sluice.cuda.GpuWorkFigures.Tally;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * Calls of a {@link GpuExpertBuffer} and works of its stream that follow each other, such as a dispatch, the kernels of the experts and a
 * combine, as one CUDA graph: one call of the driver starts all, and the GPU goes from one to the next in less time. Made by {@link
 * GpuExpertBuffer#graph}, started again and again: the kernels count their calls in the GPU's memory, so that a replay reads no signals
 * of an earlier one. Any thread, but one at a time starts calls of a buffer.
 */
public final class GpuExpertGraph implements AutoCloseable {
    private final OpenGraphs open;
    private final BufferCore core;
    private final LowLatencySequence lowLatency;
    private final NormalSequence normal;
    private final GpuGraph graph;
    private final Tally tally;

    private GpuExpertGraph(Builder builder) {
        open = builder.open;
        core = builder.core;
        lowLatency = new LowLatencySequence(builder.lowLatency);
        normal = new NormalSequence(builder.normal);
        graph = GpuGraph.of(builder.works);
        tally = GpuExpertCounters.graph(Stream.concat(
                        builder.lowLatency.stream().map(LowLatencyCall::tally),
                        builder.normal.stream().map(GpuNormalCall::tally))
                .toList());
    }

    /** Collects calls and works. Not for several threads at once. */
    public static final class Builder {
        private final OpenGraphs open;
        private final BufferCore core;
        private final List<LowLatencyCall> lowLatency = new ArrayList<>();
        private final List<GpuNormalCall> normal = new ArrayList<>();
        private final List<GpuWork> works = new ArrayList<>();

        Builder(OpenGraphs open, BufferCore core) {
            this.open = open;
            this.core = core;
        }

        /**
         * Adds a low-latency call, in whole, behind what is there.
         *
         * @param call of the buffer; one may be there several times
         * @return this
         * @throws IllegalArgumentException if it is of another buffer
         */
        public Builder call(GpuLowLatencyCall call) {
            ensureOwn(call.call().core());
            lowLatency.add(call.call());
            works.add(call.call().whole());
            return this;
        }

        /**
         * Adds a call of normal mode behind what is there.
         *
         * @param call of the buffer; one may be there several times
         * @return this
         * @throws IllegalArgumentException if it is of another buffer
         */
        public Builder call(GpuNormalCall call) {
            ensureOwn(call.core());
            normal.add(call);
            works.add(call.work());
            return this;
        }

        private void ensureOwn(BufferCore other) {
            if (other != core) {
                throw new IllegalArgumentException("the call is of another buffer");
            }
        }

        /**
         * Adds work behind what is there, such as kernels of the experts. It runs in each replay, also behind a call that has
         * failed and whose result is undefined. A module of its kernels that is closed is unloaded once the graph is closed as
         * well.
         *
         * @param work of the buffer's stream
         * @return this
         */
        public Builder work(GpuWork work) {
            works.add(work);
            return this;
        }

        /**
         * Makes the graph. Not for a poller: the driver takes tens of microseconds and more. What calls and works read and write is that
         * of their preparation; they stay open as long as the graph is started.
         *
         * @return the graph; the buffer closes it when it is closed itself
         * @throws IllegalArgumentException if there is nothing in it, a work is of another stream, or a low-latency result would be
         *     combined twice for one dispatch
         * @throws io.sluice.engine.SluiceException the buffer's error, if it has failed
         * @throws io.sluice.cuda.GpuClosedException if a call or what a work uses is closed
         * @throws io.sluice.cuda.CudaException if the driver refuses it
         */
        public GpuExpertGraph build() {
            core.ensureUsable();
            return open.added(new GpuExpertGraph(this));
        }
    }

    /**
     * Starts all, behind what the buffer's stream has. Allocates nothing and waits for nothing. All ranks start the same calls in the same
     * order; whether in a graph or one by one makes no difference to others.
     *
     * @return the number of the last one in {@link GpuExpertBuffer#stream()}, to wait for by {@link GpuExpertBuffer#onReached}; if one of
     *     them fails, the calls after it do nothing, works run all the same, and the wait ends with the error
     * @throws io.sluice.engine.SluiceException the buffer's error, if it has failed; or if the driver refuses it, with which the buffers
     *     of all ranks fail
     * @throws io.sluice.engine.TooManyPendingException if too much is under way in the stream. Nothing was started
     * @throws io.sluice.cuda.GpuClosedException if this, or what a call or a work uses, is closed. Nothing was started
     * @throws IllegalStateException if a call cannot be started, see {@link GpuLowLatencyCall#start} and {@link GpuNormalCall#start}.
     *     Nothing was started
     */
    public long start() {
        return start(true);
    }

    /**
     * Starts all as {@link #start} does; the number counts as reached with that of a later one.
     *
     * @return the number of the last one in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public long startUnnumbered() {
        return start(false);
    }

    private long start(boolean isNumbered) {
        long number;
        try {
            number = submit(isNumbered);
        } catch (RuntimeException e) {
            core.counters().refused();
            throw e;
        }
        core.counters().started(tally, number);
        return number;
    }

    private long submit(boolean isNumbered) {
        core.ensureUsable();
        normal.ensureStartable();
        lowLatency.begin();
        boolean isStarted = false;
        try {
            long number = core.submit(graph, isNumbered);
            isStarted = true;
            normal.started(number);
            return number;
        } finally {
            lowLatency.settle(isStarted);
        }
    }

    /**
     * Returns a wait for the numbers of starts, as {@link GpuExpertBuffer#onReached} does.
     *
     * @param callback as there
     * @return the wait, not armed
     */
    public SignalWait onReached(SignalCallback callback) {
        return core.onReached(callback);
    }

    /**
     * Returns how many kernels a start launches: two for each low-latency call, one for each of normal mode, and those of the works.
     *
     * @return 1 or more
     */
    public int kernels() {
        return graph.kernels();
    }

    /** Refuses further starts, and gives the graph back once those that were made are done; returns before that. */
    @Override
    public void close() {
        closeAsync();
    }

    /**
     * Closes it. Calls and works stay open.
     *
     * @return completes when the driver has the graph no more; a second call has the same result
     */
    public CompletableFuture<Void> closeAsync() {
        graph.close();
        open.forget(this);
        return graph.released();
    }
}
