package io.sluice.comm.rounds;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.SluiceException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of a back end. All ranks run the same rounds: each tells every other how many bytes it has for it, then they
 * exchange them, then each stores what has come. A rank that has nothing joins a round that another one wants. As a rank
 * begins a round when it has stored what came by the one before, the next round tells the others that it is there.
 */
final class RoundWorker implements Runnable {
    /** What the thread asks of the loop's side. Any thread. */
    interface Loop {
        /** Has the other ranks join a round. */
        void ring(long round);

        /** Operations have ended, or signals have come. */
        void changed();

        /** A rank has left. */
        void seen(int rank);

        /** Whether a rank has seen this one leave. */
        boolean hasSeen(int rank);

        /** It cannot go on, for a reason that the team does not know: has {@link #fail} called on the loop. */
        void failed(SluiceException error);
    }

    private static final Logger LOG = LoggerFactory.getLogger(RoundWorker.class);
    private static final int HEADER_BYTES = 64;
    // behind the headers of two rounds
    private static final int PAYLOAD_AT = Exchange.ANNOUNCED_AT;
    private static final long LEAVING = 1;
    private static final long LONGEST_ROUND_NANOS = 60_000_000_000L;
    private static final long LONGEST_LEAVE_NANOS = 5_000_000_000L;
    private static final long PARK_NANOS = 100_000_000;

    final CompletableFuture<Void> opened = new CompletableFuture<>();
    final CompletableFuture<Void> ended = new CompletableFuture<>();
    final RoundOperation.Queue submitted = new RoundOperation.Queue();
    final RoundOperation.Queue done = new RoundOperation.Queue();

    private final String name;
    private final int rank;
    private final int ranks;
    private final Exchange exchange;
    private final IntFunction<@Nullable RoundMemory> memories;
    private final long doubtNanos;
    private final List<Deque<RoundOperation>> puts = new ArrayList<>();
    private final List<RoundOperation> packed = new ArrayList<>();
    private final Deque<RoundOperation> barriers = new ArrayDeque<>();
    private final AtomicIntegerArray left;
    private final AtomicIntegerArray lost;
    private final int[] headers;
    private final int[] sends;
    private final int[] receives;
    private final boolean[] leaves;
    private final AtomicReference<@Nullable SluiceException> failure = new AtomicReference<>();
    private volatile @Nullable Loop loop;
    private volatile @Nullable Thread thread;
    private volatile long wanted;
    private volatile boolean closing;
    private volatile boolean over;
    private long sequence;
    private long completed;
    private long lastWithData;
    private boolean isLeaving;

    /**
     * Creates it.
     *
     * @param memories by number
     * @param doubtNanos how long the team may take to say that it has lost a rank, after an error of the exchange
     */
    RoundWorker(
            String name,
            int rank,
            int ranks,
            Exchange exchange,
            IntFunction<@Nullable RoundMemory> memories,
            long doubtNanos) {
        this.name = name;
        this.rank = rank;
        this.ranks = ranks;
        this.exchange = exchange;
        this.memories = memories;
        this.doubtNanos = doubtNanos;
        this.left = new AtomicIntegerArray(ranks);
        this.lost = new AtomicIntegerArray(ranks);
        this.headers = new int[ranks];
        this.sends = new int[ranks];
        this.receives = new int[ranks];
        this.leaves = new boolean[ranks];
        for (int i = 0; i < ranks; i++) {
            puts.add(new ArrayDeque<>());
        }
    }

    void start(Loop side) {
        loop = side;
        Thread started = new Thread(this, "sluice-" + name + "-" + rank);
        started.setDaemon(true);
        thread = started;
        started.start();
    }

    /** Ends it where it could not be started; not in this call, as closing an exchange may wait. */
    void abandon(Loop side, Throwable why) {
        loop = side;
        fail(
                why instanceof SluiceException typed
                        ? typed
                        : new SluiceException(
                                "the " + name + " back end of rank " + rank + " could not start: create another one",
                                why));
        CompletableFuture.runAsync(() -> end(false));
    }

    // ---- any thread ----

    /** Why nothing can be put any more, or null. */
    @Nullable
    SluiceException failure() {
        return failure.get();
    }

    boolean hasLeft(int other) {
        return left.get(other) != 0;
    }

    void submit(RoundOperation operation) {
        submitted.add(operation);
        if (over) {
            endAll();
        } else {
            LockSupport.unpark(thread);
        }
    }

    void want(long round) {
        if (round > wanted) {
            wanted = round;
            LockSupport.unpark(thread);
        }
    }

    /** A rank is lost, or has left the team. */
    void lose(int other) {
        lost.set(other, 1);
        if (!hasLeft(other)) {
            fail(new ConnectionLostException("rank " + other + " is lost, and the " + name + " back end of rank " + rank
                    + " with it: shrink the team." + exchange.consequence()));
        }
    }

    /** Ends it; true if nothing else has ended it before. */
    boolean fail(SluiceException error) {
        boolean isFirst = failure.compareAndSet(null, error);
        // the library may not come back from opening
        opened.completeExceptionally(error);
        LockSupport.unpark(thread);
        return isFirst;
    }

    void close() {
        closing = true;
        LockSupport.unpark(thread);
    }

    // ---- the thread ----

    private Loop loop() {
        Loop side = loop;
        if (side == null) {
            throw new IllegalStateException("the thread is not started");
        }
        return side;
    }

    @Override
    public void run() {
        boolean isFailed = true;
        try {
            exchange.open(this::check);
            LOG.info("rank {} of {}: {}", rank, ranks, exchange.description());
            opened.complete(null);
            boolean goesOn = true;
            while (goesOn) {
                goesOn = turn();
            }
            isFailed = false;
        } catch (RuntimeException | Error e) {
            failed(e);
        } finally {
            end(isFailed);
        }
    }

    private void failed(Throwable e) {
        LOG.debug("rank {}", rank, e);
        boolean wasOpen = opened.isDone();
        // what opens or closes has no operations whose end could name a wrong rank
        if (wasOpen && !closing) {
            awaitTeam();
        }
        if (failure.get() != null) {
            return;
        }
        SluiceException own = !wasOpen && e instanceof SluiceException typed
                ? typed
                : new SluiceException(
                        "the " + name + " back end of rank " + rank
                                + " cannot go on, and its team has named no lost rank within "
                                + Duration.ofNanos(doubtNanos) + ": "
                                + (e.getMessage() == null ? e : e.getMessage()) + "." + exchange.consequence(),
                        e);
        // on the loop, where none must see the error before it knows that no rank is lost
        loop().failed(own);
        while (failure.get() == null && !closing) {
            LockSupport.parkNanos(this, PARK_NANOS);
        }
    }

    /** Waits until the team says why it must end, if it does. */
    private void awaitTeam() {
        long begun = System.nanoTime();
        long left = doubtNanos;
        while (failure.get() == null && !closing && left > 0) {
            LockSupport.parkNanos(this, left);
            left = doubtNanos - (System.nanoTime() - begun);
        }
    }

    private void end(boolean isFailed) {
        try {
            exchange.close(isFailed);
        } catch (RuntimeException | Error e) {
            LOG.warn("the {} back end of rank {} was not closed in order", name, rank, e);
        }
        failure.compareAndSet(
                null,
                new SluiceException("the " + name + " back end of rank " + rank + " is closed: open another one"));
        over = true;
        endAll();
        ended.complete(null);
    }

    /** Ends all operations that are left: on the thread, and once it has ended on the one that submits more. */
    private synchronized void endAll() {
        for (RoundOperation each = submitted.takeAll(); each != null; ) {
            RoundOperation after = RoundOperation.Queue.after(each);
            barriers.add(each);
            each = after;
        }
        puts.forEach(queue -> {
            barriers.addAll(queue);
            queue.clear();
        });
        barriers.addAll(packed);
        packed.clear();
        for (RoundOperation each = barriers.poll(); each != null; each = barriers.poll()) {
            // nothing reads a source any more, or stores into memory
            boolean isDone = each.kind == RoundOperation.Kind.FLUSH || each.kind == RoundOperation.Kind.FREE;
            each.error = isDone ? null : failure.get();
            done.add(each);
        }
        loop().changed();
    }

    private void check() {
        SluiceException known = failure.get();
        if (known != null) {
            throw known;
        }
    }

    /** Does what there is to do; false if this rank has left. */
    private boolean turn() {
        check();
        takeSubmitted();
        boolean hasWork = endBarriers() | puts.stream().anyMatch(queue -> !queue.isEmpty());
        boolean isAlone = isAlone();
        if (closing && !hasWork) {
            if (isAlone) {
                return false;
            }
            isLeaving = true;
        }
        long round = completed + 1;
        if (!isAlone && (hasWork || isLeaving || wanted >= round)) {
            run(round);
        } else if (submitted.isEmpty() && !closing) {
            LockSupport.parkNanos(this, PARK_NANOS);
        }
        if (isLeaving) {
            awaitSeen();
        }
        return !isLeaving;
    }

    private boolean isAlone() {
        for (int other = 0; other < ranks; other++) {
            if (isPeer(other)) {
                return false;
            }
        }
        return true;
    }

    private boolean isPeer(int other) {
        return other != rank && !hasLeft(other);
    }

    private void takeSubmitted() {
        for (RoundOperation each = submitted.takeAll(); each != null; ) {
            RoundOperation after = RoundOperation.Queue.after(each);
            each.sequence = ++sequence;
            if (each.kind != RoundOperation.Kind.PUT) {
                barriers.add(each);
            } else if (hasLeft(each.rank)) {
                refuse(each);
            } else {
                puts.get(each.rank).add(each);
            }
            each = after;
        }
    }

    private void refuse(RoundOperation put) {
        put.error = new ConnectionLostException("rank " + put.rank + " has closed its " + name + " back end");
        done.add(put);
        loop().changed();
    }

    private long firstUnsent() {
        long first = Long.MAX_VALUE;
        for (Deque<RoundOperation> queue : puts) {
            RoundOperation put = queue.peek();
            first = put == null ? first : Math.min(first, put.sequence);
        }
        return first;
    }

    /** Ends flushes and the like that have nothing to wait for; returns whether one waits for another round. */
    private boolean endBarriers() {
        if (barriers.isEmpty()) {
            return false;
        }
        long unsent = firstUnsent();
        boolean changed = false;
        boolean waits = false;
        boolean isAlone = isAlone();
        for (var all = barriers.iterator(); all.hasNext(); ) {
            RoundOperation barrier = all.next();
            if (barrier.sequence > unsent) {
                continue;
            }
            if (barrier.afterRound < 0) {
                barrier.afterRound = lastWithData;
            }
            boolean isStored = barrier.kind != RoundOperation.Kind.QUIET || isAlone || barrier.afterRound == 0;
            if (isStored || completed > barrier.afterRound) {
                all.remove();
                done.add(barrier);
                changed = true;
            } else {
                waits = true;
            }
        }
        if (changed) {
            loop().changed();
        }
        return waits;
    }

    // ---- rounds ----

    private void run(long round) {
        if (wanted < round) {
            loop().ring(round);
        }
        int headerAt = (int) (round & 1) * HEADER_BYTES;
        boolean hasPayload = false;
        for (int other = 0; other < ranks; other++) {
            sends[other] = 0;
            headers[other] = isPeer(other) ? HEADER_BYTES : 0;
            if (isPeer(other)) {
                sends[other] = pack(other);
                hasPayload |= sends[other] > 0;
                MemorySegment header = exchange.outgoing(other);
                header.set(ValueLayout.JAVA_LONG, headerAt, round);
                header.set(ValueLayout.JAVA_LONG, headerAt + 8, sends[other]);
                header.set(ValueLayout.JAVA_LONG, headerAt + 16, isLeaving ? LEAVING : 0);
            }
        }
        lastWithData = hasPayload ? round : lastWithData;
        exchange(headerAt, headers, headers);
        for (int other = 0; other < ranks; other++) {
            receives[other] = headers[other] == 0 ? 0 : readHeader(other, headerAt, round);
            hasPayload |= receives[other] > 0;
        }
        if (hasPayload) {
            exchange(PAYLOAD_AT, sends, receives);
            store();
        }
        completed = round;
        packed.forEach(done::add);
        packed.clear();
        loop().changed();
        for (int other = 0; other < ranks; other++) {
            if (headers[other] > 0 && leaves[other]) {
                left.set(other, 1);
                loop().seen(other);
                puts.get(other).forEach(this::refuse);
                puts.get(other).clear();
            }
        }
    }

    private int pack(int other) {
        MemorySegment area = exchange.outgoing(other).asSlice(PAYLOAD_AT);
        Deque<RoundOperation> queue = puts.get(other);
        long at = 0;
        for (RoundOperation put = queue.peek(); put != null && Records.fits(put, area, at); put = queue.peek()) {
            try {
                at = Records.write(put, area, at);
            } catch (IllegalStateException sourceIsClosed) {
                put.error =
                        new SluiceException("the source of a put was closed before the put had ended", sourceIsClosed);
                put.sent = put.bytes;
            }
            if (put.sent < put.bytes) {
                break;
            }
            packed.add(queue.remove());
        }
        return (int) at;
    }

    private int readHeader(int other, int headerAt, long round) {
        MemorySegment header = exchange.incoming(other);
        long theirs = header.get(ValueLayout.JAVA_LONG, headerAt);
        long bytes = header.get(ValueLayout.JAVA_LONG, headerAt + 8);
        if (theirs != round || bytes < 0 || bytes > exchange.areaBytes() - PAYLOAD_AT) {
            throw new SluiceException("rank " + other + " is in round " + theirs + " with " + bytes
                    + " bytes, and rank " + rank + " in round " + round + " of the " + name + " back end");
        }
        leaves[other] = header.get(ValueLayout.JAVA_LONG, headerAt + 16) == LEAVING;
        return (int) bytes;
    }

    private void store() {
        for (int other = 0; other < ranks; other++) {
            if (receives[other] > 0) {
                Records.store(exchange.incoming(other).asSlice(PAYLOAD_AT), receives[other], memories);
            }
        }
    }

    private void exchange(int offset, int[] sent, int[] received) {
        check();
        exchange.start(offset, sent, received);
        long begun = System.nanoTime();
        Pause pause = new Pause();
        while (!exchange.isDone()) {
            check();
            if (System.nanoTime() - begun > LONGEST_ROUND_NANOS) {
                throw new ConnectionLostException("the other ranks have not joined round " + (completed + 1)
                        + " of the " + name + " back end within " + LONGEST_ROUND_NANOS / 1_000_000_000 + " s");
            }
            pause.again();
        }
    }

    /** The others may still be receiving from this rank, whose memory goes. */
    private void awaitSeen() {
        long begun = System.nanoTime();
        for (int other = 0; other < ranks; other++) {
            Pause pause = new Pause();
            while (headers[other] > 0
                    && lost.get(other) == 0
                    && !loop().hasSeen(other)
                    && System.nanoTime() - begun < LONGEST_LEAVE_NANOS) {
                pause.again();
            }
        }
    }
}
