package io.sluice.collectives;

import io.sluice.engine.EngineLoop;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.TransferEngine;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.IntConsumer;

/**
 * Ranks 0 to n − 1, each an engine, that call collectives together. Each rank connects to all others and gives them
 * memory for messages on their way. All methods may be called from any thread.
 *
 * <p>A collective ends on every rank, once: with success, or with a typed error. When a rank is lost, a collective
 * exceeds its time, ranks call different collectives, or a rank revokes the team, all pending collectives of all ranks
 * end with an error, and later calls throw it.
 *
 * <p>The order in which elements are reduced depends on the ranks, their number and the algorithm alone: all ranks get
 * the same bits, in every run.
 */
public interface Team extends CollectiveOperations<Collective> {
    /**
     * Forms a team: finds the other ranks and connects to them.
     *
     * @param engine this rank's engine; it must listen, and allow peers to connect as its options say
     * @param options the rank, the number of ranks, and how they find each other
     * @return the team; or {@link CollectiveTimeoutException} if a rank has not come in time, {@link
     *     CollectiveMismatchException} if ranks have different options, or an error of the engine
     * @throws IllegalArgumentException if there is more than one rank and no rendezvous
     * @throws IllegalStateException if the engine does not listen
     */
    static CompletableFuture<Team> form(TransferEngine engine, TeamOptions options) {
        return TeamFormation.form(engine, options);
    }

    /**
     * Returns this rank.
     *
     * @return 0 to {@link #size()} − 1
     */
    int rank();

    /**
     * Returns the number of ranks.
     *
     * @return 1 or more
     */
    int size();

    /**
     * Returns the team's name.
     *
     * @return as the options give it
     */
    String name();

    /**
     * Returns the ranks that were lost or have left, as far as this rank knows.
     *
     * @return a view, in ascending order
     */
    Set<Integer> failed();

    /**
     * Watches for ranks that are lost or leave.
     *
     * @param listener called once for each rank, on the {@linkplain #loop() loop}; also for those that are {@linkplain
     *     #failed() known}. Must not block, and is never removed
     */
    void whenFailed(IntConsumer listener);

    /**
     * Returns how often the team has shrunk.
     *
     * @return 0 for a team that was formed or split off
     */
    long epoch();

    /**
     * Returns the engine that the team was formed on.
     *
     * @return this rank's engine
     */
    TransferEngine engine();

    /**
     * Returns the loop that drives this rank's collectives, and its connections to the other ranks.
     *
     * @return never changes
     */
    EngineLoop loop();

    /**
     * Returns a stage that completes when no collective can succeed here any more.
     *
     * @return completes normally if the team is closed here, else with the error with which pending collectives end and
     *     that later calls throw
     */
    CompletionStage<Void> ended();

    /**
     * Returns what this rank counts.
     *
     * @return figures that go on counting; always the same object
     */
    TeamMetrics metrics();

    /**
     * Returns the same collectives, to be prepared once and started again and again. All ranks prepare them in the same
     * order.
     *
     * @return operations that check and plan collectives but call nothing
     */
    CollectiveOperations<PersistentCollective> prepare();

    /**
     * Sends elements to another rank, which receives them with the same tag, type and count. Not a collective: it has no
     * place in the order of the others, and may be called from anywhere. Messages of one tag between two ranks are
     * received in the order in which they were sent; one with a start event is sent when that has happened.
     *
     * @param source the elements, in host memory
     * @param sourceOffset where they begin, in bytes
     * @param count elements, 0 or more
     * @param type the type of the elements
     * @param peer the rank that receives them, not this one
     * @param tag any number
     * @param options time-out, priority and start; no algorithm
     * @param callback receives the terminal signal: the receiver has taken them, or is certain to
     * @return the send
     * @throws IndexOutOfBoundsException if the buffer leaves its region, or there is no such rank
     * @throws IllegalArgumentException if the peer is this rank, the count is negative, or the options name an algorithm
     */
    Collective send(
            MemoryRegion source,
            long sourceOffset,
            long count,
            ElementType type,
            int peer,
            int tag,
            CollectiveOptions options,
            CollectiveCallback callback);

    /**
     * Receives elements that another rank sends with the same tag, type and count.
     *
     * @param target for the elements, in host memory
     * @param targetOffset where they begin, in bytes
     * @param count elements, 0 or more
     * @param type the type of the elements
     * @param peer the rank that sends them, not this one
     * @param tag any number
     * @param options time-out and start; no algorithm
     * @param callback receives the terminal signal
     * @return the receive
     * @throws IndexOutOfBoundsException if the buffer leaves its region, or there is no such rank
     * @throws IllegalArgumentException as for {@link #send}
     */
    Collective receive(
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            int peer,
            int tag,
            CollectiveOptions options,
            CollectiveCallback callback);

    /**
     * Attaches a region of each rank on all others, for transfers of the caller's own between ranks. A collective: all
     * ranks call it in the same order as others, each with a region of its engine.
     *
     * @param region gives peers rights; its length may differ from those of other ranks
     * @return the regions, once all ranks have attached them; else, on all ranks, the error of a collective, or why a
     *     region could not be attached
     * @throws IllegalStateException if the region gives peers no rights
     */
    CompletableFuture<SharedRegion> share(MemoryRegion region);

    /**
     * Revokes the team: pending collectives of all ranks end with {@link TeamRevokedException}, and so do later ones.
     *
     * @return completes when this rank has sent the word to the others
     */
    CompletableFuture<Void> revoke();

    /**
     * Revokes the team, agrees with the other survivors on the failed ranks, and forms a team of the survivors, whose
     * ranks keep their order. All survivors call it. The old team is closed once the new one is formed. If a rank fails
     * meanwhile, it may fail on all survivors, which can try again.
     *
     * @return a team of the next {@linkplain #epoch() epoch}, or an error as from {@link #form}
     */
    CompletableFuture<Team> shrink();

    /**
     * Divides the team: the ranks of one color form a new one, ordered by their keys, and by their ranks where keys are
     * the same. A collective: all ranks call it in the same order as others.
     *
     * @param color any number
     * @param key any number
     * @return the team of this rank's color; or the error of a collective, or an error as from {@link #form}
     */
    CompletableFuture<Team> split(int color, int key);

    /**
     * Leaves the team. Pending collectives end with {@link TeamClosedException} here. On the other ranks, those that
     * still need this rank end with {@link RankFailedException}. Connections are closed and memory is released.
     *
     * @return completes when nothing of the team is left here; a second call has the same result
     */
    CompletableFuture<Void> closeAsync();
}
