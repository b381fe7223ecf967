package io.sluice.collectives;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Collectives of several kinds and sizes, some under way at a time, until one fails; the same ones on all ranks. */
final class MixedCalls implements AutoCloseable {
    private static final int UNDER_WAY = 4;
    private static final int ELEMENTS = 100_000;
    private static final long TARGET_AT = 4L * ELEMENTS;
    private static final CollectiveOptions DEFAULTS = CollectiveOptions.defaults();

    private final Team team;
    private final long most;
    private final List<MemoryRegion> buffers = new ArrayList<>();
    private final CompletableFuture<List<SluiceException>> done = new CompletableFuture<>();
    private final List<SluiceException> errors = new ArrayList<>();
    private int called;
    private int open;
    private volatile int ended;

    /**
     * Prepares the calls of a rank.
     *
     * @param most how many
     */
    MixedCalls(TransferEngine engine, Team team, long most) {
        this.team = team;
        this.most = most;
        for (int i = 0; i < UNDER_WAY; i++) {
            buffers.add(engine.allocate(2 * TARGET_AT, RegionOptions.local()));
        }
    }

    synchronized MixedCalls start() {
        open = UNDER_WAY;
        buffers.forEach(this::next);
        return this;
    }

    /** The errors, once all that were under way have ended. */
    CompletableFuture<List<SluiceException>> done() {
        return done;
    }

    /** How many have ended without an error. */
    int ended() {
        return ended;
    }

    // the order of the calls is that of their numbers
    private synchronized void next(MemoryRegion buffer) {
        if (!errors.isEmpty() || called >= most) {
            if (--open == 0) {
                done.complete(List.copyOf(errors));
            }
            return;
        }
        try {
            call(called++, buffer, (collective, error) -> ended(buffer, error));
        } catch (SluiceException failed) {
            ended(buffer, failed);
        }
    }

    private synchronized void ended(MemoryRegion buffer, @Nullable SluiceException error) {
        if (error == null) {
            ended++;
        } else {
            errors.add(error);
        }
        next(buffer);
    }

    private void call(int number, MemoryRegion buffer, CollectiveCallback callback) {
        int root = number % team.size();
        ElementType type = ElementType.INT32;
        switch (number % 7) {
            case 0 -> team.allReduce(buffer, 0, buffer, 0, 8, type, ReduceOperation.SUM, DEFAULTS, callback);
            case 1 ->
                team.allReduce(buffer, 0, buffer, TARGET_AT, ELEMENTS, type, ReduceOperation.MAX, DEFAULTS, callback);
            case 2 -> team.broadcast(buffer, 0, 30_000, type, root, DEFAULTS, callback);
            case 3 -> team.allGather(buffer, 0, buffer, TARGET_AT, 1_000, type, DEFAULTS, callback);
            case 4 -> team.barrier(DEFAULTS, callback);
            case 5 -> team.allToAll(buffer, 0, buffer, TARGET_AT, 256, type, DEFAULTS, callback);
            default ->
                team.reduce(buffer, 0, buffer, TARGET_AT, 5_000, type, ReduceOperation.MIN, root, DEFAULTS, callback);
        }
    }

    @Override
    public void close() {
        buffers.forEach(MemoryRegion::close);
    }
}
