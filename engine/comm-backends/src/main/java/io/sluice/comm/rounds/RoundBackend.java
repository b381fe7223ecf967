package io.sluice.comm.rounds;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamClosedException;
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
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A back end over an {@link Exchange}. Symmetric memory is the host's; puts, signals and memory that is freed go to a thread,
 * which tells the loop what has ended.
 */
class RoundBackend implements CommBackend, RoundWorker.Loop {
    private static final int KNOWN_SOURCES = 16;
    private static final long REFUSED = 0;
    // longer than the thread waits for anything
    private static final long LONGEST_OPEN_SECONDS = 150;
    private static final Logger LOG = LoggerFactory.getLogger(RoundBackend.class);
    private static final long LONGEST_CLOSE_SECONDS = 90;
    // a library may see that a process has ended before the team does
    private static final long LONGEST_DOUBT_NANOS = 5_000_000_000L;

    private final String type;
    private final Team team;
    private final Exchange exchange;
    private final Doorbell doorbell;
    private final RoundWorker worker;
    private final Puts puts;
    private final RoundWait.Armed armed;
    private final Map<Integer, RoundMemory> memories;
    private final AtomicInteger nextMemory = new AtomicInteger();
    private final TeamLoop loop;
    private final TeamLoop.Repeated look;
    private final List<Consumer<SluiceException>> failureListeners = new ArrayList<>();
    private final @Nullable HostMemory[] sources = new HostMemory[KNOWN_SOURCES];
    private int nextSource;
    private @Nullable SluiceException failed;
    private @Nullable CompletableFuture<Void> closed;

    private RoundBackend(String type, Team team, Exchange exchange, Doorbell doorbell) {
        this.type = type;
        this.team = team;
        this.exchange = exchange;
        this.doorbell = doorbell;
        this.loop = new TeamLoop(team.loop(), "sluice-" + type + "-" + team.rank() + "-end");
        this.look = loop.repeated(this::look);
        this.memories = new ConcurrentHashMap<>();
        this.worker = new RoundWorker(type, team.rank(), team.size(), exchange, memories::get, LONGEST_DOUBT_NANOS);
        this.puts = new Puts(worker, team.rank(), team.size());
        this.armed = new RoundWait.Armed(this::changed);
    }

    /** Opens the exchange on a thread, once the loop listens to the other ranks. Closes it and the doorbell if it cannot. */
    static CompletableFuture<CommBackend> open(String type, Team team, Exchange exchange, Doorbell doorbell) {
        RoundBackend backend = new RoundBackend(type, team, exchange, doorbell);
        if (!backend.loop.begin(backend::start)) {
            backend.worker.abandon(backend, backend.teamIsOver(null));
        }
        return backend.within(LONGEST_OPEN_SECONDS, "open", backend.worker.opened)
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

    private CompletableFuture<Void> within(long seconds, String what, CompletableFuture<Void> done) {
        return done.copy().orTimeout(seconds, TimeUnit.SECONDS).exceptionally(error -> {
            throw error instanceof TimeoutException
                    ? new SluiceException("the library of the " + type + " back end of rank " + rank() + " did not "
                            + what + " within " + seconds + " s, and may never do so: a new process is needed")
                    : error instanceof CompletionException known ? known : new CompletionException(error);
        });
    }

    Exchange exchange() {
        return exchange;
    }

    private void start() {
        try {
            doorbell.listen(worker::want, this::peerFailed);
            team.whenFailed(worker::lose);
            team.ended().whenComplete((nothing, error) -> worker.fail(teamIsOver(error)));
            worker.start(this);
        } catch (RuntimeException | Error e) {
            worker.abandon(this, e);
        }
    }

    private SluiceException teamIsOver(@Nullable Throwable why) {
        SluiceException over =
                new TeamClosedException("the team of rank " + rank() + " is closed or has ended, and its " + type
                        + " back end with it: shrink the team, or form another one." + exchange.consequence());
        if (why != null) {
            over.initCause(why);
        }
        return over;
    }

    private void peerFailed(int rank) {
        end(new SluiceException("the " + type + " back end of rank " + rank
                + " has ended with an error, and that of rank " + rank() + " with it." + exchange.consequence()));
    }

    /** Ends it though no rank is lost; true if nothing else has ended it before. On the loop. */
    private boolean end(SluiceException error) {
        boolean isFirst = worker.fail(error);
        if (isFirst) {
            failed = error;
            for (Consumer<SluiceException> listener : failureListeners) {
                try {
                    listener.accept(error);
                } catch (RuntimeException e) {
                    LOG.error("a listener of the {} back end threw an exception", type, e);
                }
            }
        }
        return isFirst;
    }

    // ---- the thread's side ----

    @Override
    public void ring(long round) {
        if (!loop.offer(() -> doorbell.ring(round))) {
            worker.fail(teamIsOver(null));
        }
    }

    @Override
    public void changed() {
        look.ask();
    }

    private void look() {
        puts.endDone();
        armed.look();
    }

    @Override
    public void seen(int rank) {
        loop.offer(() -> doorbell.seen(rank));
    }

    @Override
    public boolean hasSeen(int rank) {
        return doorbell.hasSeen(rank);
    }

    @Override
    public void failed(SluiceException error) {
        boolean isTaken = loop.offer(() -> {
            if (end(error)) {
                doorbell.fail();
            }
        });
        if (!isTaken) {
            worker.fail(teamIsOver(null));
        }
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
                    // another rank may take it for allocated, and put into it
                    CompletableFuture<Void> released =
                            memory == null ? CompletableFuture.completedFuture(null) : free(memory);
                    Throwable known = failure == null
                            ? new SluiceException("the " + type + " back end of rank " + rank()
                                    + " was closed meanwhile: allocate before it is closed")
                            : failure;
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
        team.whenFailed(listener);
    }

    @Override
    public void whenFailed(Consumer<SluiceException> listener) {
        failureListeners.add(listener);
        SluiceException known = failed;
        if (known != null) {
            listener.accept(known);
        }
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
            closing = within(LONGEST_CLOSE_SECONDS, "close", worker.ended.thenCompose(nothing -> releaseAll()));
            closed = closing;
        }
        return closing.copy();
    }

    private CompletableFuture<Void> releaseAll() {
        List<CompletableFuture<Void>> released =
                new ArrayList<>(memories.values().stream().map(this::free).toList());
        CompletableFuture<Void> doorbellClosed = new CompletableFuture<>();
        // behind what the thread has given to the loop
        loop.execute(() -> doorbell.close().whenComplete((nothing, error) -> doorbellClosed.complete(null)));
        released.add(doorbellClosed);
        return CompletableFuture.allOf(released.toArray(CompletableFuture[]::new));
    }
}
