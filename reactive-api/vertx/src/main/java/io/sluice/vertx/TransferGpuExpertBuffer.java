package io.sluice.vertx;

import io.sluice.collectives.Team;
import io.sluice.cuda.GpuStream;
import io.sluice.experts.cuda.GpuExpertBuffer;
import io.sluice.experts.cuda.GpuExpertGraph;
import io.sluice.experts.cuda.GpuExpertOptions;
import io.sluice.experts.cuda.GpuLowLatency;
import io.sluice.experts.cuda.GpuLowLatencyCall;
import io.sluice.experts.cuda.GpuNormalCall;
import io.vertx.core.Future;
import java.util.Objects;

/**
 * A {@link GpuExpertBuffer} for Vert.x; needs {@code sluice-experts-cuda}. Calls and graphs are prepared by {@link #buffer()}, and each
 * run of one is a future of itself, which completes when this rank's GPU is through with it. The low-latency calls that need no
 * preparation are those of {@link TransferExpertBuffer}, for memory of the GPU: parameters and errors are those of {@link GpuLowLatency}.
 *
 * <p><strong>Contexts.</strong> All methods may be called from any thread; futures complete on the caller's context, as {@link
 * TransferConnection} describes.
 *
 * <p><strong>Order.</strong> A run starts at once; the order of starts must be that of the other ranks, and one thread at a time starts,
 * such as an event loop. What a start throws fails the future; other errors are those of {@link GpuExpertBuffer#onReached}. A call cannot
 * be cancelled: {@link Future#timeout} only stops waiting.
 *
 * <p><strong>Halves.</strong> {@link #send} and {@link #receive} run the halves of a prepared low-latency call. The futures of {@link
 * #lowLatencyDispatchHooked} and {@link #lowLatencyCombineHooked} complete when the GPU has sent; {@link TransferReceiveHook#complete()} is
 * the arrival, which after a {@link io.sluice.engine.TooManyPendingException} may be called again.
 *
 * <p><strong>Lifetime.</strong> A buffer is closed with its client, and when its team ends.
 */
@SuppressWarnings("exports") // Applications with experts on GPUs require their module; others do without.
public final class TransferGpuExpertBuffer extends TransferLowLatency {
    private final OpenGpuWork open;
    private final GpuExpertBuffer buffer;

    private TransferGpuExpertBuffer(OpenGpuWork open, GpuExpertBuffer buffer) {
        super(open.client(), buffer::lowLatency);
        this.open = open;
        this.buffer = buffer;
    }

    /**
     * Creates a buffer, with a stream of its own, on a worker thread. A collective of the team's; those of one context are created one
     * after another. Call nothing else of the team until it has ended, so that the order stays that of the other ranks.
     *
     * @param team of ranks whose engines have the transport {@code cuda}; stays open when the buffer is closed
     * @param gpu the stable id of this rank's GPU
     * @param options the same on all ranks
     * @return the buffer, or an error as from {@link GpuExpertBuffer#create(Team, String, GpuExpertOptions)}
     */
    public static Future<TransferGpuExpertBuffer> create(TransferTeam team, String gpu, GpuExpertOptions options) {
        Objects.requireNonNull(gpu, "gpu");
        Objects.requireNonNull(options, "options");
        return OpenGpuWork.open(
                team.client(),
                team.team(),
                () -> GpuExpertBuffer.create(team.team(), gpu, options),
                GpuExpertBuffer::closeAsync,
                TransferGpuExpertBuffer::new);
    }

    /**
     * Creates a buffer with a stream of the caller's, as {@link #create(TransferTeam, String, GpuExpertOptions)} does with one of its own.
     *
     * @param team of ranks whose engines have the transport {@code cuda}; stays open when the buffer is closed
     * @param stream of this rank's GPU; stays open when the buffer is closed
     * @param options the same on all ranks
     * @return the buffer
     */
    public static Future<TransferGpuExpertBuffer> create(
            TransferTeam team, GpuStream stream, GpuExpertOptions options) {
        Objects.requireNonNull(stream, "stream");
        Objects.requireNonNull(options, "options");
        return OpenGpuWork.open(
                team.client(),
                team.team(),
                () -> GpuExpertBuffer.create(team.team(), stream, options),
                GpuExpertBuffer::closeAsync,
                TransferGpuExpertBuffer::new);
    }

    /** {@return the engine's buffer, which prepares calls and graphs, and tells options, stream and metrics} */
    public GpuExpertBuffer buffer() {
        return buffer;
    }

    /**
     * Runs a low-latency call in whole.
     *
     * @param <C> dispatch or combine
     * @param call prepared by {@link #buffer()}
     * @return the call, when this rank's GPU is through with it
     */
    public <C extends GpuLowLatencyCall> Future<C> run(C call) {
        return open.run(call, call::onReached, call::start);
    }

    /**
     * Runs the first half of a low-latency call: the sends.
     *
     * @param <C> dispatch or combine
     * @param call prepared by {@link #buffer()}
     * @return the call, when what is sent may change
     */
    public <C extends GpuLowLatencyCall> Future<C> send(C call) {
        return open.run(call, call::onReached, call::startSend);
    }

    /**
     * Runs the second half of a low-latency call. Until then later calls of the other ranks may wait for this one.
     *
     * @param <C> dispatch or combine
     * @param call whose first half was run
     * @return the call, when this rank's GPU is through with it
     */
    public <C extends GpuLowLatencyCall> Future<C> receive(C call) {
        return open.run(call, call::onReached, call::startReceive);
    }

    /**
     * Runs a call of normal mode.
     *
     * @param <C> layout, dispatch or combine
     * @param call prepared by {@link #buffer()}
     * @return the call, when this rank's GPU is through with it
     */
    public <C extends GpuNormalCall> Future<C> run(C call) {
        return open.run(call, call::onReached, call::start);
    }

    /**
     * Runs a graph of calls.
     *
     * @param graph made by {@link #buffer()}
     * @return the graph, when this rank's GPU is through with all of it
     */
    public Future<GpuExpertGraph> run(GpuExpertGraph graph) {
        return open.run(graph, graph::onReached, graph::start);
    }

    /** {@return completes when nothing of it is left here; see {@link GpuExpertBuffer#closeAsync}} */
    public Future<Void> close() {
        return open.close();
    }

    /** Returns what the buffer is called. */
    @Override
    public String toString() {
        return "TransferGpuExpertBuffer[" + buffer + "]";
    }
}
