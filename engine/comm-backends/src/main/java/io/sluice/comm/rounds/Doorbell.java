package io.sluice.comm.rounds;

import io.sluice.collectives.SharedRegion;
import io.sluice.collectives.Team;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntConsumer;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Words of each rank that the others add to over the team's own connections: which round they want, that they have seen this
 * one leave, and that they have ended with an error. The loop's, but for {@link #hasSeen}.
 */
final class Doorbell {
    private static final Logger LOG = LoggerFactory.getLogger(Doorbell.class);
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final long STRIDE = 64;
    private static final long ROUND = 0;
    private static final long SEEN = 8;
    private static final long FAILED = 16;

    private final Team team;
    private final SharedRegion shared;
    private final MemoryRegion own;
    private final List<SignalWait> waits = new ArrayList<>();
    private long rung;
    private int underWay;
    private boolean isClosed;
    private final CompletableFuture<Void> idle = new CompletableFuture<>();

    private Doorbell(Team team, SharedRegion shared) {
        this.team = team;
        this.shared = shared;
        this.own = shared.local();
    }

    /** Creates one on each rank. A collective. */
    static CompletableFuture<Doorbell> create(Team team) {
        MemoryRegion region;
        try {
            region = team.engine().allocate(team.size() * STRIDE, RegionOptions.readWrite());
        } catch (SluiceException e) {
            return CompletableFuture.failedFuture(e);
        }
        return team.share(region).handle((shared, error) -> {
            if (shared == null) {
                region.close();
                throw new CompletionException(error);
            }
            return new Doorbell(team, shared);
        });
    }

    /**
     * Listens to the other ranks.
     *
     * @param wanted called with the round that one wants
     * @param failed called with a rank that says that it has ended with an error
     */
    void listen(LongConsumer wanted, IntConsumer failed) {
        for (int rank = 0; rank < team.size(); rank++) {
            if (rank != team.rank()) {
                int other = rank;
                waits.add(own.signal(rank * STRIDE + ROUND).onAtLeast(1, team.loop(), (wait, value, error) -> {
                    if (error == null && !isClosed) {
                        wanted.accept(value);
                        armAgain(wait, value + 1);
                    }
                }));
                waits.add(own.signal(rank * STRIDE + FAILED).onAtLeast(1, team.loop(), (wait, value, error) -> {
                    if (error == null && !isClosed) {
                        failed.accept(other);
                    }
                }));
            }
        }
    }

    private static void armAgain(SignalWait wait, long value) {
        try {
            wait.arm(value);
        } catch (IllegalStateException engineIsClosed) {
            LOG.debug("the other ranks are not heard any more, as the engine is closed", engineIsClosed);
        }
    }

    private void add(int rank, long word, long addend) {
        underWay++;
        try {
            shared.of(rank)
                    .connection()
                    .signal(
                            new SignalUpdate(
                                    new RemoteSignal(shared.of(rank), team.rank() * STRIDE + word),
                                    addend,
                                    SignalOrder.WEAK),
                            TransferOptions.defaults(),
                            (transfer, error) -> ended());
        } catch (SluiceException | IllegalStateException e) {
            ended();
            // the team says so itself
            LOG.debug("rank {} of {} is not told", rank, team, e);
        }
    }

    private void ended() {
        underWay--;
        if (isClosed && underWay == 0) {
            idle.complete(null);
        }
    }

    /** Says that this rank wants a round. */
    void ring(long round) {
        if (round > rung) {
            for (int rank = 0; rank < team.size(); rank++) {
                if (rank != team.rank()) {
                    add(rank, ROUND, round - rung);
                }
            }
            rung = round;
        }
    }

    /** Says to a rank that this one has seen it leave. */
    void seen(int rank) {
        add(rank, SEEN, 1);
    }

    /** Says to all that this rank has ended with an error. */
    void fail() {
        for (int rank = 0; rank < team.size(); rank++) {
            if (rank != team.rank()) {
                add(rank, FAILED, 1);
            }
        }
    }

    /** Whether a rank has seen this one leave. Any thread. */
    boolean hasSeen(int rank) {
        try {
            return (long) WORD.getAcquire(own.segment(), rank * STRIDE + SEEN) > 0;
        } catch (IllegalStateException engineIsClosed) {
            return true;
        }
    }

    /** Ends it once what was said has been said. */
    CompletableFuture<Void> close() {
        underWay++;
        isClosed = true;
        waits.forEach(SignalWait::close);
        ended();
        return idle.thenComposeAsync(nothing -> shared.closeAsync())
                .handle((nothing, error) -> own.close())
                .thenCompose(closed -> closed);
    }
}
