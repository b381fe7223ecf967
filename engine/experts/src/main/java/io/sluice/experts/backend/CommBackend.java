package io.sluice.experts.backend;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Carries the bytes and signals of an expert buffer between its ranks: one-sided puts into symmetric memory, and
 * 64-bit words there that puts add to. {@link #allocate}, {@link #free}, {@link #barrier} and {@link #closeAsync} are for
 * any thread; everything else is the team's loop's alone. Offsets and lengths are in bytes; words lie at multiples of 8
 * and have the host's byte order.
 *
 * <p>A method that throws has started nothing. Once a rank is lost, operations that concern it end with an error. Puts
 * are in no order among themselves. Values of words only ever grow.
 */
public interface CommBackend {
    /**
     * Returns the kind.
     *
     * @return the provider's {@linkplain CommBackendProvider#name() name}
     */
    String type();

    /**
     * Returns this rank.
     *
     * @return 0 to {@link #ranks()} − 1
     */
    int rank();

    /**
     * Returns the number of ranks.
     *
     * @return 1 or more
     */
    int ranks();

    /**
     * Waits for all ranks. A collective.
     *
     * @return completes after every rank has called it; or the error of a rank that cannot
     */
    CompletableFuture<Void> barrier();

    /**
     * Allocates memory on all ranks. A collective: all ranks ask for the same length.
     *
     * @param bytes at least 1
     * @return the memory, zero on all ranks; or {@link io.sluice.engine.RegistrationException} if there is too little,
     *     {@link io.sluice.collectives.CollectiveMismatchException} if lengths differ, or the error of a rank that cannot
     */
    CompletableFuture<SymmetricMemory> allocate(long bytes);

    /**
     * Releases memory on this rank. All ranks do so.
     *
     * @param memory allocated by this back end
     * @return completes when it is released here
     */
    CompletableFuture<Void> free(SymmetricMemory memory);

    /**
     * Makes a region of the team's engine a source of puts.
     *
     * @param region host memory
     * @return {@code null} if this back end can put from symmetric memory alone. May be called again and again: allocates
     *     nothing for a region that is known
     */
    @Nullable
    CommMemory source(MemoryRegion region);

    /**
     * Puts bytes into another rank's memory.
     *
     * @param source memory of this rank
     * @param sourceOffset where the bytes begin
     * @param target the memory of the other rank
     * @param targetOffset where they go
     * @param bytes 0 or more
     * @param rank the other rank
     * @param callback called when the source may change again
     * @throws IndexOutOfBoundsException if a range leaves its memory
     * @throws IllegalArgumentException if the rank is this one
     */
    void put(
            CommMemory source,
            long sourceOffset,
            SymmetricMemory target,
            long targetOffset,
            long bytes,
            int rank,
            CommCallback callback);

    /**
     * Puts bytes and adds to a word in the same memory, which the other rank sees after these bytes.
     *
     * @param source memory of this rank
     * @param sourceOffset where the bytes begin
     * @param target the memory of the other rank
     * @param targetOffset where they go
     * @param bytes 0 or more
     * @param signalOffset where the word is in the target
     * @param addend what to add, at least 1
     * @param rank the other rank
     * @param callback called when the source may change again
     * @throws IndexOutOfBoundsException if a range or the word leaves its memory
     * @throws IllegalArgumentException if the rank is this one
     */
    void putWithSignal(
            CommMemory source,
            long sourceOffset,
            SymmetricMemory target,
            long targetOffset,
            long bytes,
            long signalOffset,
            long addend,
            int rank,
            CommCallback callback);

    /**
     * Adds to a word of another rank, after everything that was put or stored there before.
     *
     * @param target the memory of the other rank
     * @param offset where the word is
     * @param addend what to add, at least 1
     * @param rank the other rank
     * @param callback called when it is added
     * @throws IndexOutOfBoundsException if the word leaves the memory
     * @throws IllegalArgumentException if the rank is this one
     */
    void signal(SymmetricMemory target, long offset, long addend, int rank, CommCallback callback);

    /**
     * Prepares a batch of puts.
     *
     * @param source memory of this rank
     * @param target the memory of the other rank
     * @param pieceBytes the length of each piece, at least 1
     * @param rank the other rank
     * @return an empty batch
     * @throws IllegalArgumentException if the rank is this one
     */
    PutBatch prepareBatch(CommMemory source, SymmetricMemory target, long pieceBytes, int rank);

    /**
     * Prepares a put that is followed by a signal of 1: after its own bytes and after everything that was put or stored
     * there before.
     *
     * @param source memory of this rank
     * @param sourceOffset where the bytes begin
     * @param target the memory of the other rank
     * @param targetOffset where they go
     * @param bytes 0 or more; with 0 only the signal
     * @param signalOffset where the word is in the target
     * @param rank the other rank
     * @return the put
     * @throws IndexOutOfBoundsException if a range or the word leaves its memory
     * @throws IllegalArgumentException if the rank is this one
     */
    PreparedPut preparePut(
            CommMemory source,
            long sourceOffset,
            SymmetricMemory target,
            long targetOffset,
            long bytes,
            long signalOffset,
            int rank);

    /**
     * Creates a wait for a word of this rank.
     *
     * @param memory symmetric memory
     * @param offset where the word is
     * @param callback called on the loop each time the wait is armed and the word reaches the value, or with an error if
     *     the memory is freed
     * @return the wait, not armed
     * @throws IndexOutOfBoundsException if the word leaves the memory
     */
    CommWait await(SymmetricMemory memory, long offset, CommCallback callback);

    /**
     * Watches the other ranks.
     *
     * @param listener called on the loop for each rank that is lost or has left, perhaps more than once
     */
    void whenLost(IntConsumer listener);

    /**
     * Watches the back end itself.
     *
     * @param listener called once on the loop if this back end or that of another rank ends though the team has lost no
     *     rank, such as with an error of its library; gets that error, as do its operations. A back end that ends with the
     *     team alone never calls it
     */
    default void whenFailed(Consumer<SluiceException> listener) {}

    /**
     * Waits until the sources of all earlier operations may change again.
     *
     * @param callback called when no earlier operation touches this rank's memory any more, even if ranks are lost
     */
    void flush(CommCallback callback);

    /**
     * Waits until everything put earlier is visible to the other ranks.
     *
     * @param callback called when it is, or with the error of a rank that is lost
     */
    void quiet(CommCallback callback);

    /**
     * Ends the back end on this rank and releases its memory. The team stays open.
     *
     * @return completes when nothing touches the memory any more; a second call has the same result
     */
    CompletableFuture<Void> closeAsync();
}
