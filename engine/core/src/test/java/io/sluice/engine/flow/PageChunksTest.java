package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long the work requests of pages are, and that the window counts their bytes. */
class PageChunksTest {
    private static final long WINDOW_BYTES = 1 << 20;
    private static final long CHUNK = 512 << 10;
    private static final long PAGE_BYTES = 2 * CHUNK + CHUNK / 2;

    @Test
    void aPageThatIsLongerThanAChunkIsCut() {
        SteppedFlow stepped = new SteppedFlow();
        PageTable table = new PageTable(PAGE_BYTES, 0, 2 * PAGE_BYTES, 2 * PAGE_BYTES);
        table.fill(new int[] {0, 1}, new int[] {1, 0});
        PreparedTransfer write = new TransferFactory(stepped.flow)
                .pages(
                        WorkRequest.Opcode.WRITE,
                        stepped.memory,
                        new RemoteKey(0, 0, 0),
                        table,
                        TransferOptions.defaults(),
                        (self, failed, error) -> assertThat(error).isNull());
        write.start();
        List<Long> lengths = new ArrayList<>();
        do {
            while (stepped.loop.runNext()) {
                // until nothing more can be posted
            }
            assertThat(stepped.endpoint.held.stream()
                            .mapToLong(WorkRequest::length)
                            .sum())
                    .isPositive()
                    .isLessThanOrEqualTo(WINDOW_BYTES);
            lengths.add(stepped.endpoint.held.getFirst().length());
            stepped.completeNext();
        } while (!write.isTerminated());
        assertThat(lengths).containsExactly(CHUNK, CHUNK, CHUNK / 2, CHUNK, CHUNK, CHUNK / 2);
        stepped.settle();
        assertThat(stepped.isAtRest()).isTrue();
    }
}
