package io.sluice.experts.sluice;

import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.Team;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommCallback;
import io.sluice.experts.backend.CommMemory;
import io.sluice.experts.backend.CommWait;
import io.sluice.experts.backend.PreparedPut;
import io.sluice.experts.backend.PutBatch;
import io.sluice.experts.backend.SymmetricMemory;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** Puts are writes on the team's connections; words are signals of the engine. */
final class SluiceBackend implements CommBackend {
    private static final int KNOWN_SOURCES = 16;

    private final Team team;
    private final Set<SluiceMemory> open = ConcurrentHashMap.newKeySet();
    private final @Nullable SluiceSource[] sources = new SluiceSource[KNOWN_SOURCES];
    private int nextSource;
    private @Nullable CompletableFuture<Void> closed;

    SluiceBackend(Team team) {
        this.team = team;
    }

    @Override
    public String type() {
        return SluiceBackendProvider.NAME;
    }

    @Override
    public int rank() {
        return team.rank();
    }

    @Override
    public int ranks() {
        return team.size();
    }

    @Override
    public CompletableFuture<Void> barrier() {
        CompletableFuture<Void> passed = new CompletableFuture<>();
        team.barrier(CollectiveOptions.defaults(), (called, error) -> {
            if (error == null) {
                passed.complete(null);
            } else {
                passed.completeExceptionally(error);
            }
        });
        return passed;
    }

    @Override
    public CompletableFuture<SymmetricMemory> allocate(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("memory has at least one byte, not " + bytes);
        }
        MemoryRegion region = null;
        SluiceException refusal = null;
        try {
            FreeMemory.check("symmetric memory", bytes);
            region = team.engine().allocate(bytes, RegionOptions.readWrite());
        } catch (SluiceException e) {
            refusal = e;
        }
        MemoryRegion own = region;
        return AllocationAgreement.agree(team, bytes, refusal)
                .thenCompose(agreed -> team.share(Objects.requireNonNull(own)))
                .handle((shared, error) -> {
                    if (shared == null) {
                        CompletableFuture<Void> released =
                                own == null ? CompletableFuture.completedFuture(null) : own.close();
                        return released.handle((nothing, ignored) ->
                                        CompletableFuture.<SymmetricMemory>failedFuture(cause(error)))
                                .thenCompose(failed -> failed);
                    }
                    SluiceMemory memory = new SluiceMemory(shared, rank(), ranks());
                    open.add(memory);
                    return CompletableFuture.<SymmetricMemory>completedFuture(memory);
                })
                .thenCompose(allocated -> allocated);
    }

    private static Throwable cause(@Nullable Throwable error) {
        Throwable known = Objects.requireNonNull(error);
        return known instanceof CompletionException && known.getCause() != null ? known.getCause() : known;
    }

    @Override
    public CompletableFuture<Void> free(SymmetricMemory memory) {
        SluiceMemory own = (SluiceMemory) memory;
        return open.remove(own) ? own.close() : CompletableFuture.completedFuture(null);
    }

    @Override
    public CommMemory source(MemoryRegion region) {
        for (SluiceSource known : sources) {
            if (known != null && known.region.equals(region)) {
                return known;
            }
        }
        SluiceSource added = new SluiceSource(region);
        sources[nextSource] = added;
        nextSource = (nextSource + 1) % KNOWN_SOURCES;
        return added;
    }

    private static SignalUpdate update(RemoteRegion region, long offset, long addend, SignalOrder order) {
        return new SignalUpdate(new RemoteSignal(region, offset), addend, order);
    }

    @Override
    public void put(
            CommMemory source,
            long sourceOffset,
            SymmetricMemory target,
            long targetOffset,
            long bytes,
            int rank,
            CommCallback callback) {
        RemoteRegion remote = ((SluiceMemory) target).remote(rank, targetOffset, bytes);
        remote.connection()
                .write(
                        ((SluiceSource) source).region,
                        sourceOffset,
                        remote,
                        targetOffset,
                        bytes,
                        TransferOptions.defaults(),
                        (transfer, error) -> callback.ended(error));
    }

    @Override
    public void putWithSignal(
            CommMemory source,
            long sourceOffset,
            SymmetricMemory target,
            long targetOffset,
            long bytes,
            long signalOffset,
            long addend,
            int rank,
            CommCallback callback) {
        RemoteRegion remote = ((SluiceMemory) target).remote(rank, targetOffset, bytes);
        remote.connection()
                .writeWithSignal(
                        ((SluiceSource) source).region,
                        sourceOffset,
                        remote,
                        targetOffset,
                        bytes,
                        update(remote, signalOffset, addend, SignalOrder.WEAK),
                        TransferOptions.defaults(),
                        (transfer, error) -> callback.ended(error));
    }

    @Override
    public void signal(SymmetricMemory target, long offset, long addend, int rank, CommCallback callback) {
        RemoteRegion remote = ((SluiceMemory) target).remote(rank, offset, Long.BYTES);
        // what was stored into mapped memory comes first
        VarHandle.releaseFence();
        remote.connection()
                .signal(
                        update(remote, offset, addend, SignalOrder.STRONG),
                        TransferOptions.defaults(),
                        (transfer, error) -> callback.ended(error));
    }

    @Override
    public PutBatch prepareBatch(CommMemory source, SymmetricMemory target, long pieceBytes, int rank) {
        return new SluiceBatch(
                ((SluiceSource) source).region, ((SluiceMemory) target).remote(rank, 0, pieceBytes), pieceBytes);
    }

    @Override
    public PreparedPut preparePut(
            CommMemory source,
            long sourceOffset,
            SymmetricMemory target,
            long targetOffset,
            long bytes,
            long signalOffset,
            int rank) {
        Objects.checkFromIndexSize(sourceOffset, bytes, source.bytes());
        SluiceMemory memory = (SluiceMemory) target;
        memory.remote(rank, signalOffset, Long.BYTES);
        RemoteRegion remote = memory.remote(rank, targetOffset, bytes);
        return new SluicePut(
                bytes == 0 ? null : ((SluiceSource) source).region,
                sourceOffset,
                remote,
                targetOffset,
                bytes,
                update(remote, signalOffset, 1, SignalOrder.STRONG));
    }

    @Override
    public CommWait await(SymmetricMemory memory, long offset, CommCallback callback) {
        return new SluiceWait(((SluiceMemory) memory).region.signal(offset), team.loop(), callback);
    }

    @Override
    public void whenLost(IntConsumer listener) {
        team.whenFailed(listener);
    }

    /** Returns the connection to another rank, which all symmetric memory shares. */
    private Connection connection(int rank) {
        SluiceMemory any =
                open.stream().findAny().orElseThrow(() -> new IllegalStateException("there is no symmetric memory"));
        return any.remote(rank, 0, 0).connection();
    }

    @Override
    public void flush(CommCallback callback) {
        onAll(Connection::flush, callback);
    }

    @Override
    public void quiet(CommCallback callback) {
        onAll(Connection::quiet, callback);
    }

    private void onAll(Function<Connection, CompletableFuture<Void>> what, CommCallback callback) {
        List<CompletableFuture<Void>> all = new ArrayList<>();
        // without memory nothing was put
        for (int rank = 0; !open.isEmpty() && rank < ranks(); rank++) {
            if (rank != rank()) {
                all.add(what.apply(connection(rank)));
            }
        }
        CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).whenComplete((nothing, error) -> {
            SluiceException failure = error == null ? null : failure(error);
            try {
                team.loop().execute(() -> callback.ended(failure));
            } catch (SluiceException engineIsClosed) {
                callback.ended(engineIsClosed);
            }
        });
    }

    private static SluiceException failure(Throwable error) {
        Throwable cause = cause(error);
        return cause instanceof SluiceException typed ? typed : new SluiceException("a connection has failed", cause);
    }

    @Override
    public synchronized CompletableFuture<Void> closeAsync() {
        CompletableFuture<Void> closing = closed;
        if (closing == null) {
            closing = CompletableFuture.allOf(
                    List.copyOf(open).stream().map(this::free).toArray(CompletableFuture[]::new));
            closed = closing;
        }
        return closing.copy();
    }
}
