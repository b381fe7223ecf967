package io.sluice.collectives;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.TransferEngine;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** How the ranks of a team find each other: each publishes some bytes, and gets those of all. */
@FunctionalInterface
public interface Rendezvous {
    /** The most bytes that a rank publishes. */
    int MOST_BYTES = 480;

    /**
     * Returns a rendezvous at the engine of rank 0, which keeps a board for the others.
     *
     * @param rankZero the address of that engine
     * @return the one that {@link TeamOptions#rendezvous(EngineAddress)} uses
     */
    static Rendezvous at(EngineAddress rankZero) {
        return new AddressRendezvous(rankZero);
    }

    /**
     * Publishes this rank's bytes and awaits those of all ranks. Called once for each team that is formed, and by no
     * poller.
     *
     * @param engine this rank's engine
     * @param team the team's name
     * @param rank this rank
     * @param size the number of ranks
     * @param bytes at most {@value #MOST_BYTES}
     * @param timeout the longest time to wait
     * @return the bytes of all ranks, by rank; or an error, at the latest when the time is over
     */
    CompletableFuture<List<byte[]>> exchange(
            TransferEngine engine, String team, int rank, int size, byte[] bytes, Duration timeout);
}
