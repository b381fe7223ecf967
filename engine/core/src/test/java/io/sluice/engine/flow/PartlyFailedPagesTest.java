package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.PagesFailedException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Of a list of pages some chunks fail and others do not: exactly the pages of those that failed are told. */
class PartlyFailedPagesTest {
    private static final long PAGE_BYTES = 512 << 10;
    private static final int PAGES = 5;

    private final SteppedFlow stepped = new SteppedFlow();

    @Test
    void pagesOfTheChunksThatFailAreTold() {
        PageTable table = new PageTable(PAGE_BYTES, 0, 2 * PAGES * PAGE_BYTES, 2 * PAGES * PAGE_BYTES);
        // none follows another
        table.fill(new int[] {0, 2, 4, 6, 8}, new int[] {8, 6, 4, 2, 0});
        List<BitSet> told = new ArrayList<>();
        List<SluiceException> errors = new ArrayList<>();
        FlowTransfer transfer = (FlowTransfer) new TransferFactory(stepped.flow)
                .pages(
                        WorkRequest.Opcode.WRITE,
                        stepped.memory,
                        new RemoteKey(0, 0, 0),
                        table,
                        TransferOptions.defaults(),
                        (ended, failed, error) -> {
                            told.add((BitSet) failed.clone());
                            errors.add(error);
                        });
        SteppedFlow.start(transfer);
        int completed = 0;
        boolean worked;
        do {
            worked = stepped.loop.runNext();
            WorkRequest request = stepped.endpoint.held.pollFirst();
            if (request != null) {
                stepped.flow.completed(
                        request, completed++ % 2 == 0 ? CompletionStatus.SUCCESS : CompletionStatus.ACCESS_DENIED);
                worked = true;
            }
        } while (worked);
        assertThat(completed).isEqualTo(PAGES);
        assertThat(told).hasSize(1);
        assertThat(told.getFirst().stream()).containsExactly(1, 3);
        assertThat(errors.getFirst()).isInstanceOf(PagesFailedException.class);
        assertThat(((PagesFailedException) errors.getFirst()).failedPages()).isEqualTo(told.getFirst());
        assertThat(stepped.isAtRest()).isTrue();
    }
}
