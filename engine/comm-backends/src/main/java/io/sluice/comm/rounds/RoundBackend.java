package io.sluice.comm.rounds;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.Team;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommCallback;
import io.sluice.experts.backend.CommMemory;
import io.sluice.experts.backend.CommWait;
import io.sluice.experts.backend.PreparedPut;
import io.sluice.experts.backend.PutBatch;
import io.sluice.experts.backend.SymmetricMemory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A back end over an {@link Exchange}. Symmetric memory is the host's; puts, signals and memory that is freed go to a thread,
 * which tells the loop what has ended.
 */
class RoundBackend implements CommBackend, RoundWorker.Loop {
    private static final int KNOWN_SOURCES = 16;
    private static final long REFUSED = 0;
    // longer than the thread waits for anything
    private static final long LONGEST_OPEN_SECONDS = 150;
    private static final long LONGEST_CLOSE_SECONDS = 90;

    private final String type;
    private final Team team;
    private final Exchange exchange;
    private final Doorbell doorbell;
    private final RoundWorker worker;
    private final Puts puts;
    private final RoundWait.Armed armed;
    private final Map<Integer, RoundMemory> memories;
    private final AtomicInteger nextMemory = new AtomicInteger();
    private final List<IntConsumer> listeners = new ArrayList<>();
    private final @Nullable HostMemory[] sources = new HostMemory[KNOWN_SOURCES];
    private int nextSource;
    private @Nullable CompletableFuture<Void> closed;

    private RoundBackend(String type, Team team, Exchange exchange, Doorbell doorbell) {
        this.type = type;
        this.team = team;
        this.exchange = exchange;
        this.doorbell = doorbell;
        this.memories = new ConcurrentHashMap<>();
        this.worker = new RoundWorker(type, team.rank(), team.size(), exchange, memories::get);
        this.puts = new Puts(worker, team.rank(), team.size());
        this.armed = new RoundWait.Armed(this::changed);
    }

    /** Opens the exchange on a thread, once the loop listens to the other ranks. */
    static CompletableFuture<CommBackend> open(String type, Team team, Exchange exchange, Doorbell doorbell) {
        RoundBackend backend = new RoundBackend(type, team, exchange, doorbell);
        return CompletableFuture.runAsync(backend::start, team.loop()::execute)
                .thenCompose(nothing -> backend.worker.opened.copy().orTimeout(LONGEST_OPEN_SECONDS, TimeUnit.SECONDS))
                .handle((nothing, error) -> {
                    if (error == null) {
                        return CompletableFuture.<CommBackend>completedFuture(backend);
                    }
                    // not waited for: the library may not come back
                    backend.closeAsync();
                    return CompletableFuture.<CommBackend>failedFuture(
                            error instanceof CompletionException && error.getCause() != null
                                    ? error.getCause()
                                    : error);
                })
                .thenCompose(opened -> opened)
                .thenApplyAsync(opened -> opened);
    }

    Exchange exchange() {
        return exchange;
    }

    private void start() {
        doorbell.listen(worker::want, this::peerFailed);
        team.whenFailed(worker::lose);
        team.ended().whenComplete((nothing, error) -> engineClosed());
        worker.start(this);
    }

    private void engineClosed() {
        worker.fail(new ConnectionLostException("the engine or team of rank " + rank() + " is closed, and the " + type
                + " back end with it." + exchange.consequence()));
    }

    private void peerFailed(int rank) {
        worker.fail(new ConnectionLostException("the " + type + " back end of rank " + rank + " has failed"));
        listeners.forEach(listener -> listener.accept(rank));
    }

    // ---- the thread's side ----

    private boolean onLoop(Runnable task) {
        try {
            team.loop().execute(task);
            return true;
        } catch (SluiceException engineIsClosed) {
            return false;
        }
    }

    @Override
    public void ring(long round) {
        if (!onLoop(() -> doorbell.ring(round))) {
            engineClosed();
        }
    }

    @Override
    public void changed() {
        if (!onLoop(this::look)) {
            // no loop is left to disturb
            synchronized (worker) {
                puts.endDone();
            }
        }
    }

    private void look() {
        puts.endDone();
        armed.look();
    }

    @Override
    public void seen(int rank) {
        onLoop(() -> doorbell.seen(rank));
    }

    @Override
    public boolean hasSeen(int rank) {
        return doorbell.hasSeen(rank);
    }

    @Override
    public void failed(SluiceException error) {
        onLoop(() -> {
            doorbell.fail();
            for (int rank = 0; rank < ranks(); rank++) {
                int lost = rank;
                if (rank != rank() && !worker.hasLeft(rank)) {
                    listeners.forEach(listener -> listener.accept(lost));
                }
            }
        });
    }

    // ---- CommBackend ----

    @Override
    public String type() {
        return type;
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
        int number = nextMemory.getAndIncrement();
        MemoryRegion region = null;
        SluiceException refusal = worker.failure();
        try {
            region = refusal == null ? team.engine().allocate(bytes, RegionOptions.local()) : null;
        } catch (SluiceException e) {
            refusal = e;
        }
        if (region != null) {
            // before the others know that it is here
            memories.put(number, new RoundMemory(region, number, rank()));
        }
        MemoryRegion own = region;
        SluiceException refused = refusal;
        byte[] length = ByteBuffer.allocate(Long.BYTES)
                .putLong(own == null ? REFUSED : bytes)
                .array();
        return Ranks.gather(team, length)
                .handle((all, error) -> {
                    Throwable failure = refused != null ? refused : error == null ? difference(bytes, all) : error;
                    RoundMemory memory = memories.get(number);
                    if (failure == null && memory != null) {
                        return CompletableFuture.<SymmetricMemory>completedFuture(memory);
                    }
                    memories.remove(number);
                    CompletableFuture<Void> released =
                            own == null ? CompletableFuture.completedFuture(null) : own.close();
                    Throwable known = failure == null ? new IllegalStateException("the back end is closed") : failure;
                    return released.handle((nothing, ignored) -> CompletableFuture.<SymmetricMemory>failedFuture(
                                    known instanceof CompletionException ? known.getCause() : known))
                            .thenCompose(failed -> failed);
                })
                .thenCompose(allocated -> allocated);
    }

    private @Nullable SluiceException difference(long bytes, List<byte[]> lengths) {
        for (int rank = 0; rank < ranks(); rank++) {
            long other = ByteBuffer.wrap(lengths.get(rank)).getLong();
            if (other == REFUSED) {
                return new RegistrationException("rank " + rank + " of " + team + " cannot allocate its " + bytes
                        + " bytes of symmetric memory");
            }
            if (other != bytes) {
                return new CollectiveMismatchException("rank " + rank + " of " + team + " allocates " + other
                        + " bytes of symmetric memory, and rank " + rank() + " " + bytes);
            }
        }
        return null;
    }

    @Override
    public CompletableFuture<Void> free(SymmetricMemory memory) {
        RoundMemory own = (RoundMemory) memory;
        if (!memories.remove(own.number, own)) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> unused = new CompletableFuture<>();
        // the thread may be storing into it
        worker.submit(new RoundOperation().set(RoundOperation.Kind.FREE, error -> {
            armed.end(own, new SluiceException("the symmetric memory was freed"));
            unused.complete(null);
        }));
        return unused.thenCompose(nothing -> own.region.close());
    }

    @Override
    public CommMemory source(MemoryRegion region) {
        for (HostMemory known : sources) {
            if (known != null && known.region.equals(region)) {
                return known;
            }
        }
        HostMemory added = new HostMemory(region);
        sources[nextSource] = added;
        nextSource = (nextSource + 1) % KNOWN_SOURCES;
        return added;
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
        put(source, sourceOffset, target, targetOffset, bytes, RoundOperation.NO_SIGNAL, 0, rank, callback);
    }

    private void put(
            CommMemory source,
            long sourceOffset,
            SymmetricMemory target,
            long targetOffset,
            long bytes,
            long signalOffset,
            long addend,
            int rank,
            CommCallback callback) {
        HostMemory from = (HostMemory) source;
        RoundMemory to = (RoundMemory) target;
        puts.checkRank(rank);
        Puts.check(from, sourceOffset, to, targetOffset, bytes, signalOffset);
        puts.put(from, sourceOffset, to, targetOffset, bytes, signalOffset, addend, rank, callback);
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
        Puts.checkWord((RoundMemory) target, signalOffset);
        put(source, sourceOffset, target, targetOffset, bytes, signalOffset, addend, rank, callback);
    }

    @Override
    public void signal(SymmetricMemory target, long offset, long addend, int rank, CommCallback callback) {
        RoundMemory to = (RoundMemory) target;
        puts.checkRank(rank);
        Puts.checkWord(to, offset);
        puts.put(null, 0, to, 0, 0, offset, addend, rank, callback);
    }

    @Override
    public PutBatch prepareBatch(CommMemory source, SymmetricMemory target, long pieceBytes, int rank) {
        puts.checkRank(rank);
        return new RoundBatch(puts, (HostMemory) source, (RoundMemory) target, pieceBytes, rank);
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
        HostMemory from = (HostMemory) source;
        RoundMemory to = (RoundMemory) target;
        puts.checkRank(rank);
        Puts.checkWord(to, signalOffset);
        Puts.check(from, sourceOffset, to, targetOffset, bytes, signalOffset);
        return callback -> puts.put(from, sourceOffset, to, targetOffset, bytes, signalOffset, 1, rank, callback);
    }

    @Override
    public CommWait await(SymmetricMemory memory, long offset, CommCallback callback) {
        Puts.checkWord((RoundMemory) memory, offset);
        return new RoundWait(armed, (RoundMemory) memory, offset, callback);
    }

    @Override
    public void whenLost(IntConsumer listener) {
        listeners.add(listener);
        team.whenFailed(listener);
    }

    @Override
    public void flush(CommCallback callback) {
        puts.barrier(RoundOperation.Kind.FLUSH, callback);
    }

    @Override
    public void quiet(CommCallback callback) {
        puts.barrier(RoundOperation.Kind.QUIET, callback);
    }

    @Override
    public synchronized CompletableFuture<Void> closeAsync() {
        CompletableFuture<Void> closing = closed;
        if (closing == null) {
            worker.close();
            closing = worker.ended
                    .copy()
                    .orTimeout(LONGEST_CLOSE_SECONDS, TimeUnit.SECONDS)
                    .thenCompose(nothing -> releaseAll());
            closed = closing;
        }
        return closing.copy();
    }

    private CompletableFuture<Void> releaseAll() {
        List<CompletableFuture<Void>> released =
                new ArrayList<>(memories.values().stream().map(this::free).toList());
        CompletableFuture<Void> doorbellClosed = new CompletableFuture<>();
        // behind what the thread has given to the loop
        Runnable close = () -> doorbell.close().whenComplete((nothing, error) -> doorbellClosed.complete(null));
        if (!onLoop(close)) {
            close.run();
        }
        released.add(doorbellClosed);
        return CompletableFuture.allOf(released.toArray(CompletableFuture[]::new));
    }
}
