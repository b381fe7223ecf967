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

    /** As NCCL says where it has lost another process. */
    @Test
    void aCommunicatorThatFailsEndsAllOperations() {
        CommBackendProvider nccl = new NcclBackendProvider(StandIns.NCCL);
        List<CommBackend> backends =
                open(nccl, nccl).stream().map(Patience::await).toList();
        List<SymmetricMemory> memory = ranks.each(rank -> backends.get(rank).allocate(4096)).stream()
                .map(Patience::await)
                .toList();
        List<CompletableFuture<Integer>> lost = List.of(new CompletableFuture<>(), new CompletableFuture<>());
        for (int rank = 0; rank < 2; rank++) {
            backends.get(rank).whenLost(lost.get(rank)::complete);
        }
        StandIns.set(StandIns.NCCL, "soft_nccl_fail_after", 0);
        CompletableFuture<Void> quiet = start(0, callback -> {
            backends.get(0).put(memory.get(0), 0, memory.get(0), 0, 64, 1, error -> {});
            backends.get(0).quiet(callback);
        });
        // both ranks' communicators fail: the other one may have said so first
        assertThat(failure(quiet, SluiceException.class))
                .hasMessageMatching("(?s).*(remote process exited|back end of rank 1 has failed).*");
        assertThat(await(lost.get(0))).isEqualTo(1);
        assertThat(await(lost.get(1))).isEqualTo(0);
        // nothing is touched any more
        await(start(0, callback -> backends.get(0).flush(callback)));
        CompletableFuture<Void> later =
                start(1, callback -> backends.get(1).put(memory.get(1), 0, memory.get(1), 0, 64, 0, callback));
        failure(later, SluiceException.class);
        backends.stream().map(CommBackend::closeAsync).toList().forEach(Patience::await);
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
                .forEach(each -> assertThat(failure(each, SluiceException.class))
                        .hasMessageMatching("(?s).*(could not be initialised|has failed).*"));
        copies.forEach(copy -> StandIns.set(copy, "soft_nvshmem_fail", ""));
        Patience.until(
                "the failed ones are gone",
                () -> open(nvshmem, nvshmem).stream()
                        .allMatch(each -> failure(each, BackendUnavailableException.class)
                                .getMessage()
                                .contains("a new process is needed")));
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
