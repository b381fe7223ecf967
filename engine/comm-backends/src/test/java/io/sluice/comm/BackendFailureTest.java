package io.sluice.comm;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.comm.nccl.NcclBackendProvider;
import io.sluice.comm.rounds.Gpu;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.SluiceException;
import io.sluice.experts.BackendUnavailableException;
import io.sluice.experts.ExpertRanks;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommBackendProvider;
import io.sluice.experts.backend.CommCallback;
import io.sluice.experts.backend.CommSettings;
import io.sluice.experts.backend.SymmetricMemory;
import io.sluice.testkit.Patience;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What goes wrong with a library ends on all ranks with the reason, and never the process. */
class BackendFailureTest {
    private static final String ABSENT = "/no/such/folder/libnccl.so.2";

    private ExpertRanks ranks;

    @BeforeEach
    void form() {
        ranks = ExpertRanks.form("shm", 2);
    }

    @AfterEach
    void close() {
        StandIns.set(StandIns.NCCL, "soft_nccl_fail_after", -1);
        System.clearProperty(Gpu.GPU_PROPERTY);
        ranks.close();
    }

    private List<CompletableFuture<CommBackend>> open(CommBackendProvider first, CommBackendProvider second) {
        byte[] id = first.uniqueId();
        return ranks.each(rank -> (rank == 0 ? first : second).open(new CommSettings(ranks.team(rank), id, true, 1)));
    }

    /** An operation on a rank's loop. */
    private CompletableFuture<Void> start(int rank, Consumer<CommCallback> operation) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        ranks.team(rank).loop().execute(() -> {
            try {
                operation.accept(error -> {
                    if (error == null) {
                        ended.complete(null);
                    } else {
                        ended.completeExceptionally(error);
                    }
                });
            } catch (SluiceException e) {
                ended.completeExceptionally(e);
            }
        });
        return ended;
    }

    @Test
    void aLibraryThatIsNotThereIsNamed() {
        CommBackendProvider absent = new NcclBackendProvider(ABSENT);
        assertThatThrownBy(absent::uniqueId)
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining(ABSENT);
        List<CompletableFuture<CommBackend>> opening = open(new NcclBackendProvider(StandIns.NCCL), absent);
        assertThat(failure(opening.get(1), BackendUnavailableException.class)).hasMessageContaining(ABSENT);
        // and the other one does not wait for it
        assertThat(failure(opening.get(0), BackendUnavailableException.class)).hasMessageContaining("rank 1");
    }

    @Test
    void aLibraryThatIsAnotherIsRefused() {
        assertThatThrownBy(() -> new NcclBackendProvider(StandIns.NVSHMEM).uniqueId())
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("ncclGetVersion");
    }

    @Test
    void librariesThatExchangeInOtherWaysAreRefused() {
        open(new NcclBackendProvider(StandIns.NCCL), new NcclBackendProvider(StandIns.NCCL_WITH_WINDOWS))
                .forEach(each -> assertThat(failure(each, BackendUnavailableException.class))
                        .hasMessageContaining("windows"));
    }

    @Test
    void twoRanksOfOneGpuAreRefused() {
        System.setProperty(Gpu.GPU_PROPERTY, "0");
        CommBackendProvider nccl = new NcclBackendProvider(StandIns.NCCL);
        open(nccl, nccl)
                .forEach(each -> assertThat(failure(each, BackendUnavailableException.class))
                        .hasMessageContaining("have the same GPU"));
    }

    /** As NCCL says where it has lost another process; but here the team has lost none. */
    @Test
    void aCommunicatorThatFailsEndsAllOperationsAndNamesNoRank() {
        CommBackendProvider nccl = new NcclBackendProvider(StandIns.NCCL);
        List<CommBackend> backends =
                open(nccl, nccl).stream().map(Patience::await).toList();
        List<SymmetricMemory> memory = ranks.each(rank -> backends.get(rank).allocate(4096)).stream()
                .map(Patience::await)
                .toList();
        List<Integer> lost = new CopyOnWriteArrayList<>();
        List<CompletableFuture<SluiceException>> failed = List.of(new CompletableFuture<>(), new CompletableFuture<>());
        for (int rank = 0; rank < 2; rank++) {
            CommBackend backend = backends.get(rank);
            CompletableFuture<SluiceException> told = failed.get(rank);
            await(start(rank, callback -> {
                backend.whenLost(lost::add);
                backend.whenFailed(told::complete);
                callback.ended(null);
            }));
        }
        // the communicator of one rank fails: of that which starts the next group, which may be either
        StandIns.set(StandIns.NCCL, "soft_nccl_fail_after", 0);
        CompletableFuture<Void> quiet = start(0, callback -> {
            backends.get(0).put(memory.get(0), 0, memory.get(0), 0, 64, 1, error -> {});
            backends.get(0).quiet(callback);
        });
        SluiceException ended = failure(quiet, SluiceException.class);
        List<String> messages =
                failed.stream().map(Patience::await).map(Throwable::getMessage).toList();
        assertThat(messages)
                .contains(ended.getMessage())
                .allMatch(message -> message.contains("close the buffer and create another one"))
                .anyMatch(message -> message.contains("remote process exited"))
                .anyMatch(message -> message.contains("has ended with an error, and that of rank"));
        assertThat(ended).isNotInstanceOf(ConnectionLostException.class);
        // nothing is touched any more
        await(start(0, callback -> backends.get(0).flush(callback)));
        CompletableFuture<Void> later =
                start(1, callback -> backends.get(1).put(memory.get(1), 0, memory.get(1), 0, 64, 0, callback));
        assertThat(failure(later, SluiceException.class)).isNotInstanceOf(ConnectionLostException.class);
        backends.stream().map(CommBackend::closeAsync).toList().forEach(Patience::await);
        assertThat(lost).isEmpty();
        // and the team goes on
        open(nccl, nccl).stream()
                .map(Patience::await)
                .map(CommBackend::closeAsync)
                .toList()
                .forEach(Patience::await);
    }

    private static String whereIs(Thread loop) {
        if (Thread.currentThread() == loop) {
            return "on the loop";
        }
        return loop.isAlive() ? "while the loop's thread runs" : "after the loop";
    }

    @Test
    void operationsOfAnEngineThatClosesEndOnceAndNotWhileItsLoopRuns() {
        CommBackendProvider nccl = new NcclBackendProvider(StandIns.NCCL);
        List<CommBackend> backends =
                open(nccl, nccl).stream().map(Patience::await).toList();
        SymmetricMemory memory = ranks.each(rank -> backends.get(rank).allocate(4096)).stream()
                .map(Patience::await)
                .toList()
                .getFirst();
        AtomicReference<Thread> loop = new AtomicReference<>();
        List<String> ends = new CopyOnWriteArrayList<>();
        int puts = 200;
        await(start(0, callback -> {
            loop.set(Thread.currentThread());
            for (int i = 0; i < puts; i++) {
                backends.get(0).put(memory, 0, memory, 0, 64, 1, error -> ends.add(whereIs(loop.get())));
            }
            callback.ended(null);
        }));
        await(ranks.engine(0).closeAsync());
        await(backends.get(0).closeAsync());
        Patience.until("all puts have ended", () -> ends.size() >= puts);
        assertThat(ends).hasSize(puts).doesNotContain("while the loop's thread runs");
        await(backends.get(1).closeAsync());
    }

    @Test
    void aRankThatHasClosedItsBackEndIsNoLoss() {
        CommBackendProvider nccl = new NcclBackendProvider(StandIns.NCCL);
        List<CommBackend> backends =
                open(nccl, nccl).stream().map(Patience::await).toList();
        SymmetricMemory memory = ranks.each(rank -> backends.get(rank).allocate(4096)).stream()
                .map(Patience::await)
                .toList()
                .getFirst();
        await(backends.get(1).closeAsync());
        failure(
                start(0, callback -> backends.get(0).put(memory, 0, memory, 0, 64, 1, callback)),
                ConnectionLostException.class);
        await(start(0, callback -> backends.get(0).quiet(callback)));
        await(backends.get(0).closeAsync());
    }

    @Test
    void nvshmemThatFailsNeedsANewProcess() {
        List<String> copies = StandIns.copiesOfNvshmem(2);
        CommBackendProvider nvshmem = new StandIns.RankedNvshmem("nvshmem", copies);
        copies.forEach(copy -> StandIns.set(copy, "soft_nvshmem_fail", "init"));
        open(nvshmem, nvshmem)
                .forEach(each ->
                        assertThat(failure(each, SluiceException.class)).hasMessageContaining("ew process is needed"));
        copies.forEach(copy -> StandIns.set(copy, "soft_nvshmem_fail", ""));
        Patience.until(
                "the failed ones are gone",
                () -> open(nvshmem, nvshmem).stream()
                        .map(each -> failure(each, BackendUnavailableException.class))
                        .map(Throwable::getMessage)
                        // all ranks have ended before they begin once more
                        .toList()
                        .stream()
                        .allMatch(message -> message.contains("a new process is needed")));
    }

    @Test
    void nvshmemCarriesOneBufferAtATime() {
        CommBackendProvider nvshmem = new StandIns.RankedNvshmem("nvshmem", StandIns.copiesOfNvshmem(2));
        List<CommBackend> backends =
                open(nvshmem, nvshmem).stream().map(Patience::await).toList();
        open(nvshmem, nvshmem)
                .forEach(each -> assertThat(failure(each, BackendUnavailableException.class))
                        .hasMessageContaining("at a time"));
        backends.stream().map(CommBackend::closeAsync).toList().forEach(Patience::await);
        open(nvshmem, nvshmem).stream()
                .map(Patience::await)
                .map(CommBackend::closeAsync)
                .toList()
                .forEach(Patience::await);
    }
}
