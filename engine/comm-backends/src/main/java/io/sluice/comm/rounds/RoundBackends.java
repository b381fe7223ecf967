package io.sluice.comm.rounds;

import io.sluice.collectives.Team;
import io.sluice.engine.SluiceException;
import io.sluice.experts.BackendUnavailableException;
import io.sluice.experts.backend.CommBackend;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens back ends: on all ranks, or on none. */
public final class RoundBackends {
    private static final byte YES = 1;
    private static final byte NO = 0;
    private static final Logger LOG = LoggerFactory.getLogger(RoundBackends.class);

    private RoundBackends() {}

    /**
     * Opens one. A collective: no rank calls the library's own before all have said that they can.
     *
     * @param type the provider's name
     * @param team the ranks
     * @param termsBytes the length of {@link Exchange#terms}
     * @param make loads the library and opens the GPU; called on no loop
     * @return the back end, or on all ranks why there is none
     */
    public static CompletableFuture<CommBackend> open(
            String type, Team team, int termsBytes, Supplier<? extends Exchange> make) {
        return CompletableFuture.supplyAsync(() -> make(type, make))
                .thenCompose(made -> open(type, team, termsBytes, made));
    }

    private static CompletableFuture<CommBackend> open(String type, Team team, int termsBytes, Made made) {
        return CompletableFuture.completedFuture(made)
                .thenCompose(each -> Ranks.gather(team, terms(each, termsBytes)))
                .thenCompose(all -> {
                    check(type, team, made, all);
                    return Doorbell.create(team);
                })
                .handle((doorbell, error) -> {
                    if (error == null) {
                        return RoundBackend.open(type, team, Objects.requireNonNull(made.exchange()), doorbell);
                    }
                    close(type, made.exchange());
                    return CompletableFuture.<CommBackend>failedFuture(
                            error instanceof CompletionException && error.getCause() != null
                                    ? error.getCause()
                                    : error);
                })
                .thenCompose(opened -> opened);
    }

    /**
     * Returns what a back end exchanges by.
     *
     * @param backend opened here
     * @return its exchange
     * @throws IllegalArgumentException if it was opened elsewhere
     */
    public static Exchange exchange(CommBackend backend) {
        if (backend instanceof RoundBackend rounds) {
            return rounds.exchange();
        }
        throw new IllegalArgumentException("the back end '" + backend.type() + "' is none of this module");
    }

    /** An exchange that is not open yet, or why there is none. */
    private record Made(
            @Nullable Exchange exchange,
            ByteBuffer terms,
            @Nullable SluiceException refusal) {
        static Made refused(SluiceException refusal) {
            return new Made(null, ByteBuffer.allocate(0), refusal);
        }
    }

    private static Made make(String type, Supplier<? extends Exchange> make) {
        Exchange made = null;
        try {
            made = make.get();
            return new Made(made, ByteBuffer.wrap(made.terms()), null);
        } catch (SluiceException e) {
            close(type, made);
            return Made.refused(e);
        } catch (RuntimeException | LinkageError e) {
            close(type, made);
            return Made.refused(new BackendUnavailableException("the " + type + " back end cannot be opened: " + e));
        }
    }

    private static void close(String type, @Nullable Exchange exchange) {
        try {
            if (exchange != null) {
                exchange.close(false);
            }
        } catch (RuntimeException | Error e) {
            LOG.warn("the {} back end that was not opened could not be closed in order", type, e);
        }
    }

    private static byte[] terms(Made made, int bytes) {
        return ByteBuffer.allocate(1 + bytes)
                .put(made.exchange() == null ? NO : YES)
                .put(made.terms().duplicate())
                .array();
    }

    private static void check(String type, Team team, Made made, List<byte[]> all) {
        SluiceException refusal = made.refusal();
        if (refusal != null) {
            throw refusal;
        }
        for (int rank = 0; rank < all.size(); rank++) {
            if (all.get(rank)[0] == NO) {
                throw new BackendUnavailableException(
                        "rank " + rank + " of " + team + " cannot open the " + type + " back end");
            }
        }
        Exchange exchange = made.exchange();
        if (exchange != null) {
            exchange.check(all.stream()
                    .map(each -> Arrays.copyOfRange(each, 1, each.length))
                    .toList());
        }
    }
}
