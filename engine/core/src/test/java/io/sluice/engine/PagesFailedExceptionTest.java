package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import org.junit.jupiter.api.Test;

class PagesFailedExceptionTest {
    private static final BitSet PAGES = BitSet.valueOf(new long[] {0b1010});
    private static final TransferTimeoutException LATE = new TransferTimeoutException("too late");

    @Test
    void whatEndedTheTransferAsAWholeBecomesTheCause() {
        SluiceException error = PagesFailedException.of(PAGES, 5, LATE);
        assertThat(error)
                .isInstanceOf(PagesFailedException.class)
                .hasCause(LATE)
                .hasMessageContaining("2 of 5 pages");
        assertThat(((PagesFailedException) error).failedPages()).isEqualTo(PAGES);
        assertThat(((PagesFailedException) error).pages()).isEqualTo(5);
    }

    @Test
    void whatNamesThePagesOrHasNoneStaysAsItIs() {
        PagesFailedException named = new PagesFailedException(PAGES, 5, LATE);
        assertThat(PagesFailedException.of(PAGES, 5, named)).isSameAs(named);
        assertThat(PagesFailedException.of(new BitSet(), 5, LATE)).isSameAs(LATE);
        assertThat(PagesFailedException.of(new BitSet(), 5, null)).isNull();
    }
}
