package io.sluice.comm;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.comm.nvshmem.NvshmemBackendProvider;
import io.sluice.comm.nvshmem.NvshmemMemory;
import io.sluice.experts.ExpertRanks;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommBackendContract;
import io.sluice.experts.backend.CommBackendProvider;
import io.sluice.experts.backend.CommSettings;
import io.sluice.testkit.Patience;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** NVSHMEM's stand-in, whose puts come late. */
class NvshmemBackendTest {
    private static final long LATE_NANOS = 300_000;

    @Nested
    class Contract extends CommBackendContract {
        private static final LastingRanks RANKS = new LastingRanks();
        private static CommBackendProvider provider;

        @Override
        protected ExpertRanks form(int size) {
            if (RANKS.isNew()) {
                // a process has one set of ranks for ever
                List<String> copies = StandIns.copiesOfNvshmem(size);
                copies.forEach(copy -> StandIns.set(copy, "soft_nvshmem_late", LATE_NANOS));
                provider = new StandIns.RankedNvshmem("nvshmem", copies);
            }
            return RANKS.form(size);
        }

        @Override
        protected void end(ExpertRanks formed) {
            RANKS.end(formed);
        }

        @AfterAll
        static void close() {
            RANKS.close();
        }

        @Override
        protected CommBackendProvider provider() {
            return provider;
        }
    }

    @Test
    void theGpusReachEachOthersMemory() {
        System.setProperty(NvshmemBackendProvider.GPU_BYTES_PROPERTY, "8192");
        try (ExpertRanks ranks = ExpertRanks.form("shm", 2)) {
            CommBackendProvider nvshmem = new StandIns.RankedNvshmem("nvshmem", StandIns.copiesOfNvshmem(2));
            byte[] id = nvshmem.uniqueId();
            List<CommBackend> backends =
                    ranks.each(rank -> nvshmem.open(new CommSettings(ranks.team(rank), id, true, 1))).stream()
                            .map(Patience::await)
                            .toList();
            List<NvshmemMemory> memory =
                    backends.stream().map(NvshmemMemory::of).toList();
            for (int rank = 0; rank < 2; rank++) {
                assertThat(memory.get(rank).bytes()).isEqualTo(8192);
            }
            // each at an address of its own: the GPU of rank 0 stores at its own for rank 1, which finds it at its own
            SoftCopies.write(0, memory.get(0).address(1) + 64, 4711);
            SoftCopies.write(1, memory.get(1).address(0) + 64, 815);
            assertThat(SoftCopies.read(1, memory.get(1).address(1) + 64)).isEqualTo(4711);
            assertThat(SoftCopies.read(0, memory.get(0).address(0) + 64)).isEqualTo(815);
            assertThat(SoftCopies.read(0, memory.get(0).address(0) + 128)).isZero();
            backends.stream().map(CommBackend::closeAsync).toList().forEach(each -> await(each));
        } finally {
            System.clearProperty(NvshmemBackendProvider.GPU_BYTES_PROPERTY);
        }
    }
}
