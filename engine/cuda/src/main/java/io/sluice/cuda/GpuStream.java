package io.sluice.cuda;

import io.sluice.engine.EngineLoop;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import io.sluice.engine.TransferPriority;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * A stream that launches kernels of the user's, and says on a loop of an engine how far it is:
 *
 * <pre>{@code
 * SignalWait wait = stream.onReached(connection.loop(), (reached, number, error) -> …);
 * GpuWork work = stream.work().launch(kernel, LaunchShape.of(132, 512), arguments).uses(mapped).build();
 * wait.arm(work.submit());
 * }</pre>
 *
 * <p>The stream stores the number of each work in pinned memory, and the loop looks at it while a wait is armed: at once for some tens
 * of microseconds, then after pauses of an eighth of the time waited, at most 1 ms. The driver calls no host function. Any thread.
 */
public final class GpuStream implements AutoCloseable {
    private final StreamSequence sequence;

    private GpuStream(StreamSequence sequence) {
        this.sequence = sequence;
    }

    /**
     * Makes a stream.
     *
     * @param gpu the stable id of the GPU, such as {@code GPU-8c7a1d2e-…}
     * @param priority {@link TransferPriority#HIGH} for blocks of kernels that go before those of other streams
     * @return the stream
     * @throws CudaException if the driver refuses it
     * @throws IllegalArgumentException if this process does not see the GPU
     * @throws io.sluice.engine.TransportUnavailableException if this process has no CUDA driver
     */
    public static GpuStream create(String gpu, TransferPriority priority) {
        return new GpuStream(StreamSequence.open(gpu, priority == TransferPriority.HIGH));
    }

    /**
     * Uses a stream of the caller's, such as PyTorch's. Work submitted here follows the stream's earlier work.
     *
     * @param gpu the stable id of its GPU
     * @param handle the {@code CUstream} or {@code cudaStream_t} of this process's primary context, destroyed only after {@link
     *     #released}; 0 for the default stream
     * @return the stream
     * @throws CudaException if the driver refuses it
     * @throws IllegalArgumentException if this process does not see the GPU
     * @throws io.sluice.engine.TransportUnavailableException if this process has no CUDA driver
     */
    public static GpuStream of(String gpu, long handle) {
        return new GpuStream(StreamSequence.adopt(gpu, handle));
    }

    /**
     * Returns the GPU.
     *
     * @return its stable id
     */
    public String device() {
        return sequence.gpu();
    }

    /**
     * Returns the driver's handle, for work that is not submitted here. While it is captured into a graph, nothing is submitted here.
     *
     * @return a {@code CUstream}, as long as this is open
     * @throws GpuClosedException if it is closed
     */
    public long handle() {
        return sequence.handle();
    }

    /**
     * Begins work for this stream.
     *
     * @return a builder without launches
     */
    public GpuWork.Builder work() {
        return new GpuWork.Builder(sequence);
    }

    /**
     * Makes a timer of this stream.
     *
     * @return the timer, to be closed
     * @throws GpuClosedException if this is closed
     * @throws CudaException if the driver refuses its events
     */
    public GpuTimer timer() {
        return GpuTimer.of(sequence);
    }

    /**
     * Returns the number of the work that was submitted last.
     *
     * @return 0 if there was none
     */
    public long submitted() {
        return sequence.submitted();
    }

    /**
     * Returns the number of the work that was done last.
     *
     * @return 0 if none is; what its kernels have stored in pinned memory is visible
     */
    public long reached() {
        return sequence.reached();
    }

    /**
     * Returns a wait for numbers of this stream's work, which allocates nothing for each arming.
     *
     * @param loop the loop that looks, and calls back
     * @param callback called once for each arming, with the number that was reached; or with a {@link CudaException} if the GPU has
     *     failed, a {@link GpuClosedException} if the stream is closed and will not reach the number, or a {@link
     *     io.sluice.engine.ConnectionClosedException} if the loop has ended. After an error it is not armed again
     * @return the wait, not armed
     * @throws io.sluice.engine.ConnectionClosedException if the loop's engine is closed
     */
    public SignalWait onReached(EngineLoop loop, SignalCallback callback) {
        return WordWait.ofStream(sequence, loop, callback);
    }

    /**
     * Returns a wait for a word of 64 bits that kernels of this stream store, such as the last block of one with {@code
     * st.release.sys}, also while the kernel goes on.
     *
     * @param buffer what the word is in
     * @param offset where, a multiple of 8
     * @param loop the loop that looks, and calls back
     * @param callback as of {@link #onReached}, with the word's value, compared as a signed number
     * @return the wait, not armed
     * @throws IndexOutOfBoundsException if the word leaves the buffer
     * @throws IllegalArgumentException if the offset is not a multiple of 8
     * @throws io.sluice.engine.ConnectionClosedException if the loop's engine is closed
     */
    public SignalWait onAtLeast(PinnedBuffer buffer, long offset, EngineLoop loop, SignalCallback callback) {
        Objects.checkFromIndexSize(offset, Long.BYTES, buffer.segment().byteSize());
        if (offset % Long.BYTES != 0) {
            throw new IllegalArgumentException("a word is aligned to 8 bytes; offset " + offset + " is not");
        }
        return WordWait.ofBuffer(buffer, offset, sequence, loop, callback);
    }

    /**
     * Refuses further work, and gives the stream back once what was submitted is done; returns before that. A stream of the caller's
     * stays.
     */
    @Override
    public void close() {
        sequence.life().close();
    }

    /**
     * Returns when the stream is given back.
     *
     * @return completes after {@link #close}
     */
    public CompletableFuture<Void> released() {
        return sequence.life().released();
    }

    @Override
    public String toString() {
        return sequence.life().what();
    }
}
