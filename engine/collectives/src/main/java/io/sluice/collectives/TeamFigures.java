package io.sluice.collectives;

import io.sluice.collectives.run.PeerWaits;
import io.sluice.collectives.run.Pending;
import io.sluice.engine.SluiceException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** The counters of a team on this rank. The loop counts; any thread reads. */
final class TeamFigures {
    private static final int ALGORITHMS = Algorithm.values().length;
    private static final int KINDS = CollectiveKind.values().length;

    private final int size;
    private final PeerWaits waits;
    private final AtomicReferenceArray<@Nullable CollectiveFigures> all =
            new AtomicReferenceArray<>(KINDS * ALGORITHMS);

    TeamFigures(int size) {
        this.size = size;
        this.waits = new PeerWaits(size);
    }

    PeerWaits waits() {
        return waits;
    }

    List<CollectiveMetrics> collectives() {
        List<CollectiveMetrics> counted = new ArrayList<>();
        for (int i = 0; i < all.length(); i++) {
            CollectiveFigures each = all.get(i);
            if (each != null) {
                counted.add(each);
            }
        }
        return List.copyOf(counted);
    }

    private CollectiveFigures of(CollectiveKind kind, Algorithm algorithm) {
        int at = kind.ordinal() * ALGORITHMS + algorithm.ordinal();
        CollectiveFigures figures = all.get(at);
        if (figures == null) {
            figures = new CollectiveFigures(kind, algorithm);
            all.set(at, figures);
        }
        return figures;
    }

    /** Counts a collective that has ended, before its callback. */
    void ended(Collective collective, Pending run, long timeoutNanos, long bytes, @Nullable SluiceException error) {
        CollectiveFigures figures = of(collective.kind(), collective.algorithm());
        long duration = run.endTimes(timeoutNanos);
        figures.countTimes(run.queuedNanos(), run.waitedNanos(), duration - run.queuedNanos() - run.waitedNanos());
        if (error == null) {
            figures.countSuccess(bytes, busBytes(collective.kind(), bytes), duration);
        } else {
            figures.countFailure();
        }
    }

    private long busBytes(CollectiveKind kind, long bytes) {
        return switch (kind) {
            case ALL_REDUCE -> 2 * (bytes - bytes / size);
            case REDUCE_SCATTER, ALL_GATHER, GATHER, SCATTER, ALL_TO_ALL -> bytes - bytes / size;
            case BROADCAST, REDUCE, SEND, RECEIVE -> size == 1 ? 0 : bytes;
            case BARRIER -> 0;
        };
    }

    /** What a call counts as its bytes. */
    long bytes(Call call) {
        Buffer source = call.source();
        Buffer target = call.target();
        if (source == null || target == null) {
            return 0;
        }
        return switch (call.kind()) {
            case ALL_GATHER -> target.bytes();
            // the root has the blocks of all, the others' buffers are both their own
            case GATHER -> target.equals(source) ? source.bytes() * size : target.bytes();
            case SCATTER -> source.equals(target) ? target.bytes() * size : source.bytes();
            default -> source.bytes();
        };
    }
}
