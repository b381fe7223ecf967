package io.sluice.experts.backend;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.experts.ExpertRanks;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The promises of a communication back end to an expert buffer. A provider's tests extend it, and say which one they open on
 * which ranks.
 */
public abstract class CommBackendContract {
    private static final int RANKS = 3;
    private static final int WORDS = 64;
    private static final int BYTES = 64 << 10;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    private ExpertRanks ranks;
    private List<CommBackend> backends;

    /** Forms the team on which back ends are opened. */
    protected abstract ExpertRanks form(int size);

    /** Ends what {@link #form} has returned; a test may have closed an engine of it. */
    protected void end(ExpertRanks formed) {
        formed.close();
    }

    /** Returns the provider under test. */
    protected abstract CommBackendProvider provider();

    @BeforeEach
    void open() {
        ranks = form(RANKS);
        byte[] id = provider().uniqueId();
        assertThat(id.length).isLessThanOrEqualTo(1024);
        backends = ranks.each(rank -> provider().open(new CommSettings(ranks.team(rank), id, true, 1))).stream()
                .map(Patience::await)
                .toList();
    }

    @AfterEach
    void close() {
        if (backends != null) {
            backends.stream().map(CommBackend::closeAsync).toList().forEach(Patience::await);
        }
        if (ranks != null) {
            end(ranks);
        }
    }

    // ---- how it is called ----

    private <T> T on(int rank, Supplier<T> what) {
        return await(CompletableFuture.supplyAsync(what, ranks.team(rank).loop()::execute));
    }

    /** Starts an operation on the loop of a rank. */
    private CompletableFuture<Void> start(int rank, Consumer<CommCallback> operation) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        on(rank, () -> {
            operation.accept(error -> {
                assertThat(ranks.team(rank).loop().inLoop()).isTrue();
                if (!(error == null ? ended.complete(null) : ended.completeExceptionally(error))) {
                    throw new AssertionError("an operation ended twice");
                }
            });
            return true;
        });
        return ended;
    }

    private List<SymmetricMemory> allocate(long bytes) {
        return ranks.each(rank -> backends.get(rank).allocate(bytes)).stream()
                .map(Patience::await)
                .toList();
    }

    private CompletableFuture<Void> reached(int rank, SymmetricMemory memory, long offset, long value) {
        return start(
                rank,
                callback -> backends.get(rank).await(memory, offset, callback).arm(value));
    }

    private static void fill(MemorySegment memory, long from, long bytes, int seed) {
        for (long at = from; at < from + bytes; at += Integer.BYTES) {
            memory.set(INT, at, (int) at * 31 + seed);
        }
    }

    private static void assertFilled(MemorySegment memory, long from, long bytes, long movedBy, int seed) {
        for (long at = from; at < from + bytes; at += Integer.BYTES) {
            int value = memory.get(INT, at);
            if (value != (int) (at - movedBy) * 31 + seed) {
                assertThat(value).as("at %d", at).isEqualTo((int) (at - movedBy) * 31 + seed);
            }
        }
    }

    private CompletableFuture<Void> quiet(int rank) {
        return start(rank, callback -> backends.get(rank).quiet(callback));
    }

    // ---- the contract ----

    @Test
    void itKnowsItsRank() {
        for (int rank = 0; rank < RANKS; rank++) {
            assertThat(backends.get(rank).rank()).isEqualTo(rank);
            assertThat(backends.get(rank).ranks()).isEqualTo(RANKS);
            assertThat(backends.get(rank).type()).isEqualTo(provider().name());
        }
    }

    @Test
    void aBarrierEndsWhenAllHaveCome() {
        CompletableFuture<Void> first = backends.get(0).barrier();
        CompletableFuture<Void> second = backends.get(1).barrier();
        assertThat(first).isNotDone();
        assertThat(second).isNotDone();
        await(backends.get(2).barrier());
        await(first);
        await(second);
    }

    @Test
    void memoryIsZeroAndOfTheLengthAskedFor() {
        for (SymmetricMemory memory : allocate(BYTES)) {
            assertThat(memory.bytes()).isEqualTo(BYTES);
            assertThat(memory.segment().byteSize()).isEqualTo(BYTES);
            assertThat(memory.segment().mismatch(MemorySegment.ofArray(new byte[BYTES])))
                    .isEqualTo(-1);
        }
    }

    @Test
    void differentLengthsAreRefusedOnAllRanks() {
        List<CompletableFuture<SymmetricMemory>> allocating =
                ranks.each(rank -> backends.get(rank).allocate(rank == 1 ? 2 * BYTES : BYTES));
        allocating.forEach(each -> failure(each, CollectiveMismatchException.class));
        // and the next one succeeds
        assertThat(allocate(BYTES)).hasSize(RANKS);
    }

    @Test
    void whatWasPutIsThereAfterQuiet() {
        List<SymmetricMemory> memory = allocate(BYTES);
        List<CompletableFuture<Void>> puts = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            int from = rank;
            fill(memory.get(from).segment(), 0, 4096, from);
            for (int to = 0; to < RANKS; to++) {
                int peer = to;
                if (peer != from) {
                    puts.add(start(
                            from,
                            callback -> backends.get(from)
                                    .put(
                                            memory.get(from),
                                            0,
                                            memory.get(from),
                                            4096L * (from + 1),
                                            4096,
                                            peer,
                                            callback)));
                }
            }
        }
        puts.forEach(Patience::await);
        ranks.each(this::quiet).forEach(Patience::await);
        for (int from = 0; from < RANKS; from++) {
            for (int to = 0; to < RANKS; to++) {
                if (to != from) {
                    assertFilled(memory.get(to).segment(), 4096L * (from + 1), 4096, 4096L * (from + 1), from);
                }
            }
        }
    }

    @Test
    void aSourceMayChangeAfterFlush() {
        List<SymmetricMemory> memory = allocate(BYTES);
        for (int round = 0; round < 20; round++) {
            int seed = round;
            fill(memory.getFirst().segment(), 0, 16_384, seed);
            start(0, callback -> backends.getFirst().put(memory.get(0), 0, memory.get(0), 16_384, 16_384, 1, callback));
            await(start(0, callback -> backends.getFirst().flush(callback)));
            fill(memory.getFirst().segment(), 0, 16_384, -1);
            await(quiet(0));
            assertFilled(memory.get(1).segment(), 16_384, 16_384, 16_384, seed);
        }
    }

    @Test
    void aSignalFollowsTheBytesOfItsPut() {
        List<SymmetricMemory> memory = allocate(BYTES);
        for (int round = 1; round <= 50; round++) {
            int seed = round;
            CompletableFuture<Void> arrived = reached(1, memory.get(1), 8, round);
            assertThat(arrived).isNotDone();
            fill(memory.getFirst().segment(), 1024, 8192, seed);
            CompletableFuture<Void> put = start(
                    0,
                    callback -> backends.getFirst()
                            .putWithSignal(memory.get(0), 1024, memory.get(0), 32_768, 8192, 8, 1, 1, callback));
            await(arrived);
            assertFilled(memory.get(1).segment(), 32_768, 8192, 31_744, seed);
            await(put);
        }
    }

    @Test
    void aSignalFollowsEverythingBeforeIt() {
        List<SymmetricMemory> memory = allocate(BYTES);
        for (int round = 1; round <= 30; round++) {
            int seed = round;
            CompletableFuture<Void> arrived = reached(2, memory.get(2), 0, 5L * round);
            fill(memory.getFirst().segment(), 1024, 16_384, seed);
            List<CompletableFuture<Void>> puts = new ArrayList<>();
            on(0, () -> {
                for (int i = 0; i < 16; i++) {
                    CompletableFuture<Void> put = new CompletableFuture<>();
                    puts.add(put);
                    backends.getFirst()
                            .put(
                                    memory.get(0),
                                    1024L + 1024L * i,
                                    memory.get(0),
                                    32_768L + 1024L * i,
                                    1024,
                                    2,
                                    error -> put.complete(null));
                }
                backends.getFirst().signal(memory.get(0), 0, 5, 2, error -> {});
                return true;
            });
            await(arrived);
            assertFilled(memory.get(2).segment(), 32_768, 16_384, 31_744, seed);
            puts.forEach(Patience::await);
        }
    }

    @Test
    void aSignalFollowsWhatWasStoredIntoMappedMemory() {
        List<SymmetricMemory> memory = allocate(BYTES);
        for (int round = 1; round <= 30; round++) {
            int seed = round;
            CompletableFuture<Void> arrived = reached(1, memory.get(1), 0, round);
            on(0, () -> {
                MemorySegment mapped = memory.getFirst().mapped(1);
                if (mapped != null) {
                    fill(mapped, 4096, 4096, seed);
                }
                backends.getFirst().signal(memory.get(0), 0, 1, 1, error -> {});
                return true;
            });
            await(arrived);
            if (on(0, () -> memory.getFirst().mapped(1) != null)) {
                assertFilled(memory.get(1).segment(), 4096, 4096, 0, seed);
            }
        }
    }

    @Test
    void aBatchPutsAllItsPieces() {
        List<SymmetricMemory> memory = allocate(BYTES);
        int piece = 112;
        PutBatch batch = on(0, () -> backends.getFirst().prepareBatch(memory.get(0), memory.get(0), piece, 1));
        int seed = 0;
        for (int pieces : new int[] {0, 1, 2, 7, 100, 3, 255, 64}) {
            seed++;
            memory.get(1).segment().fill((byte) 0);
            fill(memory.getFirst().segment(), 0, 256L * piece, seed);
            await(start(0, callback -> {
                batch.clear();
                for (int i = 0; i < pieces; i++) {
                    // in another order
                    batch.add((long) i * piece, (long) (pieces - 1 - i) * piece);
                }
                assertThat(batch.size()).isEqualTo(pieces);
                batch.start(callback);
            }));
            await(quiet(0));
            for (int i = 0; i < pieces; i++) {
                long at = (long) (pieces - 1 - i) * piece;
                assertFilled(memory.get(1).segment(), at, piece, at - (long) i * piece, seed);
            }
            assertThat(memory.get(1).segment().get(INT, (long) pieces * piece)).isZero();
        }
    }

    @Test
    void aBatchOutsideItsMemoryIsRefused() {
        List<SymmetricMemory> memory = allocate(BYTES);
        PutBatch batch = on(0, () -> backends.getFirst().prepareBatch(memory.get(0), memory.get(0), 128, 1));
        assertThatThrownBy(() -> await(start(0, callback -> {
                    batch.add(0, BYTES - 64);
                    batch.start(callback);
                })))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    /** Those that were started before need not have ended here. */
    @Test
    void aPreparedPutIsStartedAgainAndAgain() {
        List<SymmetricMemory> memory = allocate(BYTES);
        PreparedPut put =
                on(0, () -> backends.getFirst().preparePut(memory.get(0), 1024, memory.get(0), 8192, 4096, 16, 1));
        PreparedPut signal = on(0, () -> backends.getFirst().preparePut(memory.get(0), 0, memory.get(0), 0, 0, 24, 1));
        fill(memory.getFirst().segment(), 1024, 4096, 9);
        List<CompletableFuture<Void>> started = new ArrayList<>();
        on(0, () -> {
            for (int i = 0; i < 10; i++) {
                for (PreparedPut each : List.of(put, signal)) {
                    CompletableFuture<Void> ended = new CompletableFuture<>();
                    started.add(ended);
                    each.start(error -> {
                        if (error == null) {
                            ended.complete(null);
                        } else {
                            ended.completeExceptionally(error);
                        }
                    });
                }
            }
            return true;
        });
        await(reached(1, memory.get(1), 16, 10));
        assertFilled(memory.get(1).segment(), 8192, 4096, 7168, 9);
        await(reached(1, memory.get(1), 24, 10));
        started.forEach(Patience::await);
    }

    @Test
    void aPreparedPutFollowsBatchesBeforeIt() {
        List<SymmetricMemory> memory = allocate(BYTES);
        PutBatch batch = on(0, () -> backends.getFirst().prepareBatch(memory.get(0), memory.get(0), 512, 1));
        PreparedPut signal = on(0, () -> backends.getFirst().preparePut(memory.get(0), 0, memory.get(0), 0, 0, 0, 1));
        for (int round = 1; round <= 30; round++) {
            int seed = round;
            CompletableFuture<Void> arrived = reached(1, memory.get(1), 0, round);
            fill(memory.getFirst().segment(), 1024, 16_384, seed);
            CompletableFuture<Void> put = start(0, callback -> {
                batch.clear();
                for (int i = 0; i < 31; i++) {
                    batch.add(1024 + 512L * i, 32_768 + 512L * i);
                }
                batch.start(callback);
                signal.start(error -> {});
            });
            await(arrived);
            assertFilled(memory.get(1).segment(), 32_768, 31 * 512L, 31_744, seed);
            await(put);
        }
    }

    @Test
    void aWaitIsArmedAgainAndAgain() {
        List<SymmetricMemory> memory = allocate(WORDS * 8L);
        List<Long> seen = new ArrayList<>();
        CompletableFuture<Void> done = new CompletableFuture<>();
        CommWait[] wait = new CommWait[1];
        on(1, () -> {
            wait[0] = backends.get(1).await(memory.get(1), 32, error -> {
                seen.add(wait[0].value());
                if (seen.size() < 5) {
                    wait[0].arm(seen.size() + 1L);
                } else {
                    done.complete(null);
                }
            });
            assertThat(wait[0].value()).isZero();
            wait[0].arm(1);
            assertThatThrownBy(() -> wait[0].arm(1)).isInstanceOf(IllegalStateException.class);
            assertThat(wait[0].disarm()).isTrue();
            assertThat(wait[0].disarm()).isFalse();
            // one that is reached is told as well, but not inside the call
            wait[0].arm(0);
            assertThat(seen).isEmpty();
            return true;
        });
        for (int i = 0; i < 5; i++) {
            await(start(0, callback -> backends.getFirst().signal(memory.get(0), 32, 1, 1, callback)));
        }
        await(done);
        assertThat(seen).isSorted().hasSize(5);
        on(1, () -> {
            wait[0].close();
            return true;
        });
    }

    @Test
    void aRegionOfTheEngineMayBeASource() {
        List<SymmetricMemory> memory = allocate(BYTES);
        MemoryRegion region = ranks.region(0, 4096);
        fill(region.segment(), 0, 4096, 3);
        CommMemory source = on(0, () -> backends.getFirst().source(region));
        if (source != null) {
            assertThat(source.bytes()).isEqualTo(4096);
            assertThat(on(0, () -> backends.getFirst().source(region))).isEqualTo(source);
            await(start(0, callback -> backends.getFirst().put(source, 0, memory.get(0), 4096, 4096, 1, callback)));
            await(quiet(0));
            assertFilled(memory.get(1).segment(), 4096, 4096, 4096, 3);
        }
    }

    @Test
    void whatLeavesItsMemoryIsRefused() {
        List<SymmetricMemory> memory = allocate(BYTES);
        CommBackend backend = backends.getFirst();
        SymmetricMemory own = memory.getFirst();
        CommCallback none = error -> {};
        assertThatThrownBy(() -> start(0, callback -> backend.put(own, 0, own, BYTES - 8, 16, 1, none)))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> start(0, callback -> backend.put(own, BYTES - 8, own, 0, 16, 1, none)))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> start(0, callback -> backend.signal(own, BYTES, 1, 1, none)))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> start(0, callback -> backend.put(own, 0, own, 0, 16, 0, none)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> on(0, () -> backend.preparePut(own, 0, own, BYTES - 8, 16, 0, 1)))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> on(0, () -> backend.await(own, BYTES, none)))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void freedMemoryIsGone() {
        List<SymmetricMemory> memory = allocate(BYTES);
        MemorySegment segment = memory.getFirst().segment();
        for (int rank = 0; rank < RANKS; rank++) {
            await(backends.get(rank).free(memory.get(rank)));
        }
        assertThatThrownBy(() -> segment.get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
        assertThat(allocate(BYTES)).hasSize(RANKS);
    }

    @Test
    void operationsOfALostRankEndWithAnError() {
        List<SymmetricMemory> memory = allocate(BYTES);
        await(ranks.engine(2).closeAsync());
        // the team may know of the loss before the connection that carries the put has ended
        Patience.until("a put to the lost rank fails", () -> await(errorOfPut(memory.get(0), 2)) != null);
        await(start(0, callback -> backends.getFirst().flush(callback)));
    }

    /** Puts from rank 0; completes with the error, or null. */
    private CompletableFuture<@Nullable SluiceException> errorOfPut(SymmetricMemory memory, int peer) {
        CompletableFuture<@Nullable SluiceException> ended = new CompletableFuture<>();
        on(0, () -> {
            try {
                backends.getFirst().put(memory, 0, memory, 0, 64, peer, ended::complete);
            } catch (SluiceException e) {
                ended.complete(e);
            }
            return true;
        });
        return ended;
    }
}
