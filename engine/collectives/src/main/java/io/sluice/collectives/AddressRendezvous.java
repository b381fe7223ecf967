package io.sluice.collectives;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Rank 0 keeps a board, a region with an entry for each rank; the others write theirs and read the board until it is
 * complete. It is closed when all have read it, or the time is over.
 *
 * @param rankZero the address of rank 0's engine
 */
record AddressRendezvous(EngineAddress rankZero) implements Rendezvous {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long COMPLETE_AT = 0;
    private static final long READ_AT = 8;
    private static final long ENTRIES_AT = 64;
    private static final long ENTRY_BYTES = 512;
    // of an entry: a word that is not 0 once it is written, a length, bytes
    private static final long LENGTH_AT = 8;
    private static final long BYTES_AT = 12;

    private static String board(String team) {
        return "sluice-team/" + team + "/board";
    }

    private static long entryAt(int rank) {
        return ENTRIES_AT + rank * ENTRY_BYTES;
    }

    @Override
    public CompletableFuture<List<byte[]>> exchange(
            TransferEngine engine, String team, int rank, int size, byte[] bytes, Duration timeout) {
        if (bytes.length > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "a rank publishes at most " + MOST_BYTES + " bytes, not " + bytes.length);
        }
        return rank == 0
                ? keep(engine, team, size, bytes, timeout)
                : new Visit(engine, team, rank, size, bytes, timeout).begin();
    }

    private static CompletableFuture<List<byte[]>> keep(
            TransferEngine engine, String team, int size, byte[] bytes, Duration timeout) {
        MemoryRegion region =
                engine.allocate(entryAt(size), RegionOptions.readWrite().named(board(team)));
        MemorySegment memory = region.segment();
        write(memory, entryAt(0), bytes);
        region.signal(entryAt(0)).set(1);
        CompletableFuture<?>[] entries = new CompletableFuture<?>[size];
        for (int i = 0; i < size; i++) {
            int rank = i;
            entries[i] = region.signal(entryAt(i))
                    .awaitAtLeast(1)
                    .orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS)
                    .exceptionally(error -> {
                        throw new CollectiveTimeoutException("rank " + rank + " of team '" + team
                                + "' has not come to the rendezvous within " + timeout);
                    });
        }
        CompletableFuture<List<byte[]>> all = CompletableFuture.allOf(entries).thenApply(nothing -> {
            List<byte[]> read = readAll(memory, 0, size);
            region.signal(COMPLETE_AT).set(1);
            return read;
        });
        all.thenCompose(read -> region.signal(READ_AT)
                        .awaitAtLeast(size - 1L)
                        .orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS))
                .whenComplete((count, error) -> region.close());
        return all;
    }

    private static void write(MemorySegment memory, long entry, byte[] bytes) {
        memory.set(INT, entry + LENGTH_AT, bytes.length);
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, entry + BYTES_AT, bytes.length);
    }

    private static List<byte[]> readAll(MemorySegment memory, long offset, int size) {
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            long entry = offset + entryAt(i);
            int length = memory.get(INT, entry + LENGTH_AT);
            if (length < 0 || length > MOST_BYTES) {
                throw new SluiceException("the entry of rank " + i + " at the rendezvous is damaged");
            }
            all.add(memory.asSlice(entry + BYTES_AT, length).toArray(ValueLayout.JAVA_BYTE));
        }
        return all;
    }

    /** What another rank does. */
    private final class Visit {
        private final TransferEngine engine;
        private final String team;
        private final int rank;
        private final int size;
        private final byte[] bytes;
        private final Duration timeout;
        private final Retry retry;

        Visit(TransferEngine engine, String team, int rank, int size, byte[] bytes, Duration timeout) {
            this.engine = engine;
            this.team = team;
            this.rank = rank;
            this.size = size;
            this.bytes = bytes;
            this.timeout = timeout;
            this.retry = new Retry(timeout, "rank 0 of team '" + team + "' must answer at " + rankZero);
        }

        CompletableFuture<List<byte[]>> begin() {
            // rank 0 may start later than this one
            return retry.until(
                            () -> engine.connect(rankZero),
                            connection -> true,
                            error -> error instanceof ConnectFailedException)
                    .thenCompose(connection -> visit(connection).whenComplete((read, error) -> connection.close()));
        }

        private CompletableFuture<List<byte[]>> visit(Connection connection) {
            MemoryRegion local = engine.allocate(entryAt(size) + ENTRY_BYTES, RegionOptions.local());
            long own = entryAt(size);
            write(local.segment(), own, bytes);
            return retry.until(
                            () -> connection.lookup(board(team)),
                            descriptor -> true,
                            error -> error instanceof RegionNotFoundException)
                    .thenCompose(connection::attach)
                    .thenCompose(board -> {
                        if (board.length() != entryAt(size)) {
                            throw new CollectiveMismatchException(
                                    "rank 0 of team '" + team + "' expects another number of ranks than " + size
                                            + ", which rank " + rank + " has");
                        }
                        return enter(connection, local, own, board)
                                .thenCompose(nothing -> read(connection, local, board));
                    })
                    .whenComplete((read, error) -> local.close());
        }

        private CompletableFuture<Void> enter(Connection connection, MemoryRegion local, long own, RemoteRegion board) {
            SignalUpdate written = new RemoteSignal(board, entryAt(rank)).weak();
            return ended(callback -> connection.writeWithSignal(
                    local,
                    own + LENGTH_AT,
                    board,
                    entryAt(rank) + LENGTH_AT,
                    ENTRY_BYTES - LENGTH_AT,
                    written,
                    TransferOptions.defaults(),
                    callback));
        }

        private CompletableFuture<List<byte[]>> read(Connection connection, MemoryRegion local, RemoteRegion board) {
            Retry complete = new Retry(timeout, "all ranks of team '" + team + "' must come to the rendezvous");
            // What a read brings in has no order: the entries may be older than a word that came with them.
            return complete.until(
                            () -> bring(connection, local, board)
                                    .thenApply(
                                            nothing -> local.signal(COMPLETE_AT).value()),
                            value -> value != 0,
                            error -> false)
                    .thenCompose(value -> bring(connection, local, board))
                    .thenCompose(nothing -> {
                        List<byte[]> all = readAll(local.segment(), 0, size);
                        return ended(callback -> connection.signal(
                                        new RemoteSignal(board, READ_AT).weak(), TransferOptions.defaults(), callback))
                                .thenApply(done -> all);
                    });
        }

        private CompletableFuture<Void> bring(Connection connection, MemoryRegion local, RemoteRegion board) {
            return ended(callback ->
                    connection.read(local, 0, board, 0, entryAt(size), TransferOptions.defaults(), callback));
        }
    }

    static CompletableFuture<Void> ended(Consumer<TransferCallback> start) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        start.accept((transfer, error) -> {
            if (error == null) {
                done.complete(null);
            } else {
                done.completeExceptionally(error);
            }
        });
        return done;
    }
}
