package io.sluice.collectives;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.run.Header;
import org.junit.jupiter.api.Test;

class TypedErrorsTest {
    private static final TypedErrors ERRORS = new TypedErrors("team 'blue'");

    @Test
    void aMismatchNamesBothCalls() {
        long own = Header.of(CollectiveKind.BROADCAST.code(), ElementType.INT32.code(), 0, 3, 0);
        long other = Header.of(CollectiveKind.BROADCAST.code(), ElementType.INT32.code(), 0, 3, 2);
        assertThat(ERRORS.mismatch(2, own, 12, other, 12))
                .isInstanceOf(CollectiveMismatchException.class)
                .hasMessageContaining("team 'blue'")
                .hasMessageContaining("root 0, count 12")
                .hasMessageContaining("rank 2 broadcast")
                .hasMessageContaining("root 2, count 12");
        assertThat(ERRORS.mismatch(2, own, 12, own, 11)).hasMessageContaining("count 11");
    }

    @Test
    void whereOnlyTheHistoryDiffersAnEarlierCallDid() {
        long barrier = Header.of(CollectiveKind.BARRIER.code(), ElementType.INT8.code(), 0, 5, 0);
        assertThat(ERRORS.mismatch(1, barrier, 0, barrier + 1, 0))
                .isInstanceOf(CollectiveMismatchException.class)
                .hasMessageContaining("rank 1 called different collectives before barrier");
    }
}
