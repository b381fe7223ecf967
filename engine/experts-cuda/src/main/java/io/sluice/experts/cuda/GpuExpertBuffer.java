package io.sluice.experts.cuda;

import io.sluice.collectives.Team;
import io.sluice.cuda.GpuStream;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * A team's GPU memory for dispatch and combine: each rank has one GPU, some of the experts, and memory for what the others send it. The
 * bytes and their layouts are those of an {@link io.sluice.experts.ExpertBuffer} on host memory.
 *
 * <p>GPUs that reach each other's memory, over NVLink or PCIe, store to it. For {@linkplain #proxied() others}, such as those of another
 * host, the team's loop carries what kernels send, in the low-latency mode alone. Calls run in the buffer's {@linkplain #stream() stream},
 * behind what the stream has; work that is given to the stream later follows them. All ranks make the same calls in the same order.
 *
 * <p>A kernel waits for the other ranks no longer than its time-out. When a rank does not come, is lost, closes its buffer
 * or calls something else, calls that wait for it and later ones end with an error on all ranks, and the results of those
 * under way are undefined. Kernels that wait take multiprocessors: two buffers whose kernels fill a GPU may hold up each
 * other.
 *
 * <p>Any thread, but one at a time starts calls.
 */
public interface GpuExpertBuffer {
    /**
     * Creates a buffer, with a stream of its own. A collective of the team's: all ranks call it in the same order as others. Not for a
     * poller: the driver takes milliseconds.
     *
     * @param team of ranks whose engines have the transport {@code cuda}
     * @param gpu the stable id of this rank's GPU, such as {@code GPU-8c7a1d2e-…}
     * @param options the same on all ranks
     * @return the buffer; on all ranks an error if one has none: {@link
     *     io.sluice.engine.MemoryNotAccessibleException} if a GPU does not reach another's memory and normal mode is asked
     *     for, or no path of the team's connections does, {@link io.sluice.collectives.CollectiveMismatchException} if
     *     options differ, an error of the team's or of the driver
     * @throws IllegalArgumentException if the team has more than 64 ranks, or the experts cannot be divided among them
     */
    static CompletableFuture<GpuExpertBuffer> create(Team team, String gpu, GpuExpertOptions options) {
        return GpuBufferFormation.create(team, Objects.requireNonNull(gpu, "gpu"), null, options);
    }

    /**
     * Creates a buffer with a stream of the caller's, whose earlier work its calls follow.
     *
     * @param team of ranks whose engines have the transport {@code cuda}
     * @param stream of this rank's GPU; stays open when the buffer is closed
     * @param options the same on all ranks
     * @return as {@link #create(Team, String, GpuExpertOptions)}
     * @throws IllegalArgumentException as {@link #create(Team, String, GpuExpertOptions)}
     */
    static CompletableFuture<GpuExpertBuffer> create(Team team, GpuStream stream, GpuExpertOptions options) {
        return GpuBufferFormation.create(team, stream.device(), stream, options);
    }

    /**
     * Returns the options.
     *
     * @return as the buffer was created
     */
    GpuExpertOptions options();

    /**
     * Returns the team of the ranks.
     *
     * @return as given
     */
    Team team();

    /**
     * Returns what the buffer counts on this rank.
     *
     * @return always the same object; usable after the buffer is closed
     */
    GpuExpertMetrics metrics();

    /**
     * Returns the stream in which calls run. Order other work with them by giving it to this stream, or by the driver's events.
     *
     * @return the stream
     */
    GpuStream stream();

    /**
     * Returns the ranks whose memory this rank's GPU does not reach: the team's loop carries what it sends them. For each there is as much
     * memory of the GPU again as a window has.
     *
     * @return ascending, unmodifiable; none if it reaches all
     */
    Set<Integer> proxied();

    /**
     * Returns the low-latency calls.
     *
     * @return always the same object
     * @throws IllegalStateException if the options say that there are none
     */
    GpuLowLatency lowLatency();

    /**
     * Returns the calls of normal mode.
     *
     * @return always the same object
     * @throws IllegalStateException if the buffer was created without them
     */
    GpuNormalMode normalMode();

    /**
     * Begins a CUDA graph of prepared calls, and of works between them:
     *
     * <pre>{@code
     * GpuExpertGraph graph = buffer.graph().call(dispatch).work(experts).call(combine).build();
     * buffer.onReached(callback).arm(graph.start()); // again and again
     * }</pre>
     *
     * @return a builder with nothing in it
     */
    GpuExpertGraph.Builder graph();

    /**
     * Returns a wait for calls, which allocates nothing for each arming.
     *
     * @param callback called on the team's loop once for each arming, with the number of the call in its stream that was reached; or with
     *     an error if this or a later call that was started has failed: {@link io.sluice.experts.ExpertsLostException}, {@link
     *     io.sluice.collectives.CollectiveTimeoutException}, {@link io.sluice.collectives.CollectiveMismatchException}, {@link
     *     InvalidChoiceException}, {@link TooManyRowsException}, {@link io.sluice.collectives.TeamRevokedException}, {@link
     *     io.sluice.experts.ExpertBufferClosedException}; or one of {@link GpuStream#onReached}
     * @return the wait, not armed
     */
    SignalWait onReached(SignalCallback callback);

    /**
     * Closes the buffer: pending calls end with {@link io.sluice.experts.ExpertBufferClosedException} here, and those of other ranks that
     * wait for this one with {@link io.sluice.experts.ExpertsLostException}, as do their later ones: a kernel tells them, behind what the
     * stream has. Throws nothing, also while other threads use the stream. Memory of results is released as well, once its users let
     * it go. The team stays open.
     *
     * @return completes when nothing of it is left here; a second call has the same result
     */
    CompletableFuture<Void> closeAsync();
}
