package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.PageTablePool;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which pages a transfer names that ends before all its chunks have. */
class UnfinishedPagesTest {
    private static final int PAGES = 6;
    // two make a chunk, and the window takes two of the three chunks
    private static final long PAGE_BYTES = 256 << 10;

    /** Else another transfer's pages would lie where the endpoint reads those of the first. */
    @Test
    void theMemoryOfATableIsUsedAgainOnceNothingIsPosted() {
        SteppedFlow stepped = new SteppedFlow();
        PageTablePool pool = new PageTablePool();
        PageTable first = pooled(pool);
        long memory = first.locals().address();
        PreparedTransfer cancelled = write(stepped, first);
        cancelled.start();
        while (stepped.loop.runNext()) {
            // until nothing more can be posted
        }
        cancelled.cancel();
        while (stepped.loop.runNext()) {
            // until it is cancelled
        }
        assertThat(cancelled.isTerminated()).isTrue();
        assertThat(first.locals().address()).isEqualTo(memory);
        assertThat(pooled(pool).locals().address()).isNotEqualTo(memory);
        stepped.settle();
        assertThat(stepped.isAtRest()).isTrue();
        PageTable next = pooled(pool);
        assertThat(next.locals().address()).isEqualTo(memory);
        write(stepped, next).start();
        stepped.settle();
        assertThat(pooled(pool).locals().address()).isEqualTo(memory);
    }

    private static PageTable pooled(PageTablePool pool) {
        PageTable table = new PageTable(PAGE_BYTES, 0, PAGES * PAGE_BYTES, PAGES * PAGE_BYTES, pool);
        int[] pages = IntStream.range(0, PAGES).toArray();
        table.fill(pages, pages);
        return table;
    }

    private static PreparedTransfer write(SteppedFlow stepped, PageTable table) {
        return new TransferFactory(stepped.flow)
                .pages(
                        WorkRequest.Opcode.WRITE,
                        stepped.memory,
                        new RemoteKey(0, 0, 0),
                        table,
                        TransferOptions.defaults(),
                        (self, which, error) -> {});
    }

    @Test
    void chunksThatWereMovedAreNotAmongThoseThatFailed() {
        SteppedFlow stepped = new SteppedFlow();
        PageTable table = new PageTable(PAGE_BYTES, 0, PAGES * PAGE_BYTES, PAGES * PAGE_BYTES);
        int[] pages = IntStream.range(0, PAGES).toArray();
        table.fill(pages, pages);
        AtomicReference<BitSet> failed = new AtomicReference<>();
        AtomicReference<SluiceException> end = new AtomicReference<>();
        PreparedTransfer transfer = new TransferFactory(stepped.flow)
                .pages(
                        WorkRequest.Opcode.WRITE,
                        stepped.memory,
                        new RemoteKey(0, 0, 0),
                        table,
                        TransferOptions.defaults(),
                        (self, which, error) -> {
                            failed.set(which);
                            end.set(error);
                        });
        transfer.start();
        while (stepped.loop.runNext()) {
            // until nothing more can be posted
        }
        assertThat(stepped.endpoint.posted()).isEqualTo(2);
        assertThat(stepped.completeNext()).isTrue();
        transfer.cancel();
        stepped.settle();
        assertThat(end.get()).isInstanceOf(TransferCancelledException.class);
        assertThat(failed.get().stream()).containsExactly(2, 3, 4, 5);
        assertThat(stepped.isAtRest()).isTrue();
    }
}
