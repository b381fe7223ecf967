package io.sluice.collectives;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Attaches a region of each rank on all others. The ranks exchange descriptors, attach, and tell each other how that went,
 * so that it fails on all ranks or on none.
 */
final class RegionSharing {
    private static final int ATTACHED = -1;

    private final Team team;
    private final IntFunction<Connection> connections;
    private final WorkMemory work;
    private final MemoryRegion local;
    private final @Nullable RemoteRegion[] remotes;
    private int refused = ATTACHED;
    private @Nullable Throwable refusal;

    private RegionSharing(Team team, IntFunction<Connection> connections, WorkMemory work, MemoryRegion local) {
        this.team = team;
        this.connections = connections;
        this.work = work;
        this.local = local;
        this.remotes = new RemoteRegion[team.size()];
    }

    /**
     * Shares a region.
     *
     * @param connections to each other rank
     */
    static CompletableFuture<SharedRegion> share(
            Team team, IntFunction<Connection> connections, WorkMemory work, MemoryRegion local) {
        return new RegionSharing(team, connections, work, local)
                .exchange(local.descriptor().toBytes());
    }

    /** Both collectives are called at once, as other calls of the user's may follow. */
    private CompletableFuture<SharedRegion> exchange(byte[] descriptor) {
        int size = team.size();
        int length = descriptor.length;
        MemoryRegion names = work.take((size + 1L) * length);
        MemoryRegion results = work.take((size + 1L) * Integer.BYTES);
        MemorySegment.copy(MemorySegment.ofArray(descriptor), 0, names.segment(), 0, length);
        CompletableFuture<Void> attached = new CompletableFuture<>();
        CompletableFuture<SharedRegion> shared = new CompletableFuture<>();
        try {
            team.allGather(
                    names,
                    0,
                    names,
                    length,
                    length,
                    ElementType.UINT8,
                    CollectiveOptions.defaults(),
                    (called, error) -> {
                        CompletableFuture<Void> attaching =
                                error == null ? attach(names.segment(), length) : CompletableFuture.failedFuture(error);
                        work.give(names);
                        attaching.whenComplete((nothing, failed) -> {
                            results.segment().setAtIndex(ValueLayout.JAVA_INT, 0, refused);
                            attached.complete(null);
                        });
                    });
        } catch (SluiceException teamHasFailed) {
            work.give(names);
            work.give(results);
            throw teamHasFailed;
        }
        team.allGather(
                results,
                0,
                results,
                Integer.BYTES,
                1,
                ElementType.INT32,
                CollectiveOptions.defaults().startAfter(StartEvent.of(attached)),
                (called, error) -> {
                    SluiceException failure = error == null ? refusalOf(results.segment()) : error;
                    work.give(results);
                    if (failure == null) {
                        shared.complete(new Shared());
                    } else {
                        detach().whenComplete((nothing, ignored) -> shared.completeExceptionally(failure));
                    }
                });
        // not on the team's loop: callers go on when the region is shared
        return shared.thenApplyAsync(region -> region);
    }

    private CompletableFuture<Void> attach(MemorySegment names, int length) {
        List<CompletableFuture<Void>> attaching = new ArrayList<>();
        for (int rank = 0; rank < remotes.length; rank++) {
            if (rank != team.rank()) {
                int peer = rank;
                MemorySegment name = names.asSlice((peer + 1L) * length, length);
                attaching.add(attach(peer, name.toArray(ValueLayout.JAVA_BYTE)).handle((remote, error) -> {
                    settle(peer, remote, error);
                    return null;
                }));
            }
        }
        return CompletableFuture.allOf(attaching.toArray(CompletableFuture[]::new));
    }

    private CompletableFuture<RemoteRegion> attach(int peer, byte[] descriptor) {
        try {
            return connections.apply(peer).attach(RegionDescriptor.fromBytes(descriptor));
        } catch (SluiceException damagedOrEnded) {
            return CompletableFuture.failedFuture(damagedOrEnded);
        }
    }

    private synchronized void settle(int peer, @Nullable RemoteRegion remote, @Nullable Throwable error) {
        remotes[peer] = remote;
        if (error != null) {
            refused = peer;
            refusal = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        }
    }

    private synchronized @Nullable SluiceException refusalOf(MemorySegment results) {
        if (refusal instanceof SluiceException own) {
            return own;
        }
        for (int rank = 0; rank < remotes.length; rank++) {
            int other = results.getAtIndex(ValueLayout.JAVA_INT, rank + 1L);
            if (other != ATTACHED) {
                return new MemoryNotAccessibleException(
                        "rank " + rank + " of " + team + " could not attach the region of rank " + other);
            }
        }
        return null;
    }

    private synchronized CompletableFuture<Void> detach() {
        List<CompletableFuture<Void>> detaching = new ArrayList<>();
        for (RemoteRegion remote : remotes) {
            if (remote != null) {
                try {
                    // after an error it ends with the connection
                    detaching.add(remote.connection().detach(remote).exceptionally(error -> null));
                } catch (SluiceException connectionHasEnded) {
                    continue;
                }
            }
        }
        return CompletableFuture.allOf(detaching.toArray(CompletableFuture[]::new));
    }

    /** The attached regions. */
    private final class Shared implements SharedRegion {
        private @Nullable CompletableFuture<Void> closed;

        @Override
        public MemoryRegion local() {
            return local;
        }

        @Override
        public RemoteRegion of(int rank) {
            Objects.checkIndex(rank, remotes.length);
            if (rank == team.rank()) {
                throw new IllegalArgumentException("rank " + rank + " is this one, whose region is local");
            }
            return Objects.requireNonNull(remotes[rank]);
        }

        @Override
        public synchronized CompletableFuture<Void> closeAsync() {
            CompletableFuture<Void> closing = closed;
            if (closing == null) {
                closing = detach();
                closed = closing;
            }
            return closing.copy();
        }

        @Override
        public String toString() {
            return "a region of each rank of " + team;
        }
    }
}
