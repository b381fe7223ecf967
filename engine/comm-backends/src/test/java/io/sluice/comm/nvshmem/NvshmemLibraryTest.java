package io.sluice.comm.nvshmem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.comm.StandIns;
import io.sluice.experts.BackendUnavailableException;
import org.junit.jupiter.api.Test;

/** What a process may do with NVSHMEM, which it can initialise once. */
class NvshmemLibraryTest {
    private final NvshmemLibrary library =
            NvshmemLibrary.open(StandIns.copiesOfNvshmem(1).getFirst(), 64 << 20);

    private void assertTaken(String why) {
        assertThatThrownBy(library::take)
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining(why);
    }

    @Test
    void whatIsToBeDoneAboutOneThatIsInUseDependsOnItsState() {
        library.take();
        assertTaken("close the other one first");
        library.opening(library.uniqueId());
        assertTaken("wait for it");
        library.broken();
        assertTaken("a new process is needed");
    }

    @Test
    void oneThatKnowsItsRanksDrawsNoUniqueId() {
        byte[] drawn = library.uniqueId();
        assertThat(drawn).hasSize(NvshmemLibrary.UNIQUE_ID_BYTES);
        assertThat(library.uniqueId()).isNotEqualTo(drawn);
        library.opening(drawn);
        assertThat(library.uniqueId()).isEqualTo(drawn);
        library.opened(1, new NvshmemHeap(0, 0, 0));
        assertThat(library.uniqueId()).isEqualTo(drawn);
        library.broken();
        assertThat(library.uniqueId()).isEqualTo(drawn);
    }
}
