package io.sluice.vertx;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.NormalHandle;
import io.sluice.experts.NormalLayout;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.NormalResult;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An {@link ExpertBuffer} for Vert.x; needs {@code sluice-experts}. Each call is a future, which completes when this rank's
 * part has ended. Parameters and errors are those of the methods of the same name in {@link ExpertBuffer}; what a call throws
 * fails its future.
 *
 * <p><strong>Contexts.</strong> All methods may be called from any thread; futures complete on the caller's context, as
 * {@link TransferConnection} describes.
 *
 * <p><strong>Order.</strong> A method makes its call at once, and the order of the calls must be that of the other ranks. A
 * call cannot be cancelled: {@link Future#timeout} only stops waiting, and a result that comes later is still to be closed.
 *
 * <p><strong>Hooks.</strong> The futures of {@link #lowLatencyDispatchHooked} and {@link #lowLatencyCombineHooked} complete
 * when the sends are posted; {@link TransferReceiveHook#complete()} is the arrival.
 *
 * <p><strong>Lifetime.</strong> A buffer is closed with its client.
 */
@SuppressWarnings("exports") // Applications with experts require their module; others do without.
public final class TransferExpertBuffer extends TransferLowLatency {
    private final OpenExperts open;
    private final ExpertBuffer buffer;

    private TransferExpertBuffer(ClientContext client, OpenExperts open) {
        super(client, open::buffer);
        this.open = open;
        this.buffer = open.buffer();
    }

    /**
     * Creates a buffer. A collective of the team.
     *
     * @param team the ranks; stays open when the buffer is closed
     * @param options how many experts there are, and how large tokens are
     * @return the buffer, or an error as from {@link ExpertBuffer#create}
     */
    public static Future<TransferExpertBuffer> create(TransferTeam team, ExpertOptions options) {
        Objects.requireNonNull(options, "options");
        ClientContext client = team.client();
        return client.answer(() -> ExpertBuffer.create(team.team(), options).thenApply(buffer -> {
            OpenExperts open = new OpenExperts(client, buffer);
            if (!client.begin(open)) {
                buffer.closeAsync();
                throw OpenWork.clientClosed();
            }
            return new TransferExpertBuffer(client, open);
        }));
    }

    /** {@return the engine's buffer, which tells options, rank and metrics; its callbacks run on the team's loop} */
    public ExpertBuffer buffer() {
        return buffer;
    }

    // ---- normal mode ----

    /**
     * Finds out where tokens go. Done on the calling thread, without the other ranks, in time that grows with the tokens.
     *
     * @param topkIdx the experts of each token: [tokens, topK] int64, or −1 for none
     * @param topkIdxOffset where they begin, in bytes
     * @param tokens 0 to the most tokens of a rank
     * @param reuse a layout to fill again; {@code null} for a new one
     * @return the layout
     */
    public NormalLayout layout(MemoryRegion topkIdx, long topkIdxOffset, int tokens, @Nullable NormalLayout reuse) {
        return buffer.layout(topkIdx, topkIdxOffset, tokens, reuse);
    }

    /**
     * Brings tokens to the ranks of their experts, each once to a rank.
     *
     * @param x the tokens of this rank: [tokens, hidden] bfloat16
     * @param xOffset where they begin, in bytes
     * @param topkIdx the experts of each token, as {@link #layout} got them
     * @param topkIdxOffset where they begin, in bytes
     * @param weights [tokens, topK] float32, which travel with the tokens
     * @param weightsOffset where they begin, in bytes
     * @param layout where the tokens go; may change again when this method has returned
     * @param options format, alignment of counts, and time-out
     * @return the tokens that have arrived; to be closed
     */
    public Future<NormalResult> dispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            NormalLayout layout,
            NormalOptions options) {
        return called(end ->
                buffer.dispatch(x, xOffset, topkIdx, topkIdxOffset, weights, weightsOffset, layout, options, end));
    }

    /**
     * Brings other vectors to where the tokens of an earlier dispatch went.
     *
     * @param x as many vectors as the earlier dispatch had tokens: [tokens, hidden] bfloat16
     * @param xOffset where they begin, in bytes
     * @param handle of the earlier dispatch; its result may be closed
     * @param options format, time-out, and number of rows
     * @return a result without choices and weights, whose handle is the given one; to be closed
     */
    public Future<NormalResult> dispatchAgain(
            MemoryRegion x, long xOffset, NormalHandle handle, NormalOptions options) {
        return called(end -> buffer.dispatchAgain(x, xOffset, handle, options, end));
    }

    /**
     * Brings one vector for each row back to the rank of its token, which adds those of a token, and a bias.
     *
     * @param handle of the dispatch; its result may be closed
     * @param y the vectors, in the rows of the dispatch: [rows received, hidden] bfloat16
     * @param yOffset where they begin, in bytes
     * @param bias [tokens, hidden] bfloat16, or {@code null} for none
     * @param biasOffset where it begins, in bytes
     * @param out for the sums: [tokens, hidden] bfloat16
     * @param outOffset where they begin, in bytes
     * @param timeout the longest time from the call to its end, positive; {@code null} for that of the buffer
     * @return the region {@code out}
     */
    public Future<MemoryRegion> combine(
            NormalHandle handle,
            MemoryRegion y,
            long yOffset,
            @Nullable MemoryRegion bias,
            long biasOffset,
            MemoryRegion out,
            long outOffset,
            @Nullable Duration timeout) {
        return called(end -> buffer.combine(handle, y, yOffset, bias, biasOffset, out, outOffset, timeout, end));
    }

    /** {@return completes when nothing touches the buffer's memory any more; see {@link ExpertBuffer#closeAsync}} */
    public Future<Void> close() {
        return client.answer(() -> buffer.closeAsync().whenComplete((nothing, error) -> client.end(open)));
    }

    /** Returns what the buffer is called. */
    @Override
    public String toString() {
        return "TransferExpertBuffer[" + buffer + "]";
    }
}
