package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.PageCallback;
import io.sluice.engine.PagesFailedException;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A read or write of many pages of one size. The pages of a chunk are one element with one operation credit: one work
 * request if the endpoint supports page lists, else one for each run of pages that are adjacent in the remote region,
 * in as many local pieces as a request may have.
 */
final class PageTransfer extends DataTransfer {
    private final WorkRequest.Opcode operation;
    private final LeasedMemory local;
    private final RemoteKey remote;
    private final PageTable table;
    private final Chunker chunker;
    private final PageCallback callback;
    private final BitSet ended = new BitSet();
    private final BitSet failed = new BitSet();
    private final BitSet none = new BitSet(0);
    // passed to the callback: of the run that has ended, as the next may begin before the callback is called
    private BitSet told = none;
    private long chunkBytes;
    private int pagesAnElement;
    private int elements;
    private int unfinished;
    // of the next chunk: the number of pages, if they are not adjacent on both sides; else 0
    private int gathered;
    private @Nullable SluiceException firstError;

    /**
     * Creates an instance.
     *
     * @param table a filled table that nothing else uses
     */
    PageTransfer(
            OwningFlow flow,
            WorkRequest.Opcode operation,
            LeasedMemory local,
            RemoteKey remote,
            PageTable table,
            Chunker chunker,
            TransferOptions options,
            PageCallback callback) {
        super(flow, options);
        this.operation = operation;
        this.local = local;
        this.remote = remote;
        this.table = table;
        this.chunker = chunker;
        this.callback = callback;
        divide();
    }

    private void divide() {
        int pages = table.pages();
        chunkBytes = chunker.chunk(totalBytes());
        pagesAnElement = Math.clamp(chunkBytes / table.pageBytes(), 1, Math.min(PageTable.MOST_PAGES, pages));
        elements = (pages - 1) / pagesAnElement + 1;
    }

    @Override
    public PreparedTransfer retargetPages(int[] localPages, int[] remotePages) {
        holdToAim();
        try {
            table.fill(localPages, remotePages);
            divide();
        } finally {
            letGo();
        }
        return this;
    }

    @Override
    public PreparedTransfer retargetPages(long[] localOffsets, long[] remoteOffsets) {
        holdToAim();
        try {
            table.fill(localOffsets, remoteOffsets);
            divide();
        } finally {
            letGo();
        }
        return this;
    }

    private void holdToAim() {
        if (!hold()) {
            throw new IllegalStateException("the transfer is running, or chunks of it may still touch memory");
        }
    }

    @Override
    void reset() {
        super.reset();
        ended.clear();
        failed.clear();
        unfinished = elements;
        firstError = null;
    }

    @Override
    EngineMetrics.Operation kind() {
        return operation == WorkRequest.Opcode.WRITE ? EngineMetrics.Operation.WRITE : EngineMetrics.Operation.READ;
    }

    @Override
    long totalBytes() {
        // each page exists, but the same page may be listed so often that the sum exceeds all memory
        long pages = table.pages();
        return table.pageBytes() > Long.MAX_VALUE / pages ? Long.MAX_VALUE : table.pageBytes() * pages;
    }

    @Override
    int operations() {
        return elements;
    }

    @Override
    int elements() {
        return elements;
    }

    @Override
    WorkRequest.Opcode operation(int element) {
        return operation;
    }

    @Override
    boolean mayCompleteOnDevice() {
        return true;
    }

    private int firstPage(int element) {
        return element * pagesAnElement;
    }

    private int pages(int element) {
        return Math.min(pagesAnElement, table.pages() - firstPage(element));
    }

    @Override
    long length(int element) {
        return pages(element) * table.pageBytes();
    }

    @Override
    LeasedMemory local(int element) {
        return local;
    }

    @Override
    long localOffset(int element) {
        return table.local(firstPage(element));
    }

    @Override
    RemoteKey remote(int element) {
        return remote;
    }

    @Override
    long remoteOffset(int element) {
        return table.remote(firstPage(element));
    }

    // ---- chunks ----

    /** Returns the length of the next chunk. */
    long chunk(int element, long position, PathQueue path) {
        long pageBytes = table.pageBytes();
        int first = pageAt(element, position);
        int left = firstPage(element) + pages(element) - first;
        int run = table.run(first, left);
        int pages = run;
        if (run < left) {
            if (path.takesPages(remote)) {
                pages = left;
            } else if (path.gatherElements() > 1) {
                pages = table.run(first, left, path.gatherElements());
            }
        }
        gathered = pages > run ? pages : 0;
        return Math.min(pages * pageBytes - position % pageBytes, chunkBytes);
    }

    /** Returns the start of a chunk in the local region's memory. */
    long localAt(int element, long position) {
        return table.local(pageAt(element, position)) + position % table.pageBytes();
    }

    /** Returns the start of a chunk in the remote region. */
    long remoteAt(int element, long position) {
        return table.remote(pageAt(element, position)) + position % table.pageBytes();
    }

    private int pageAt(int element, long position) {
        return firstPage(element) + (int) (position / table.pageBytes());
    }

    /** Adds the pages to the chunk, if it has several that are not adjacent on both sides. */
    void describe(Chunk chunk, int element, long position) {
        if (gathered > 0) {
            chunk.gather(table, pageAt(element, position), gathered);
        }
    }

    // ---- the end ----

    @Override
    boolean elementEnded(int element, @Nullable SluiceException error, long postedAt) {
        count(path(), error, length(element), postedAt);
        ended.set(element);
        if (error != null) {
            fail(element);
            if (firstError == null) {
                firstError = error;
            }
        }
        return --unfinished == 0;
    }

    @Override
    void endUnfinished(SluiceException error, boolean report) {
        for (int i = ended.nextClearBit(0); i < elements; i = ended.nextClearBit(i + 1)) {
            countFailed(path(), error, length(i));
            fail(i);
        }
        told = (BitSet) failed.clone();
    }

    private void fail(int element) {
        failed.set(firstPage(element), firstPage(element) + pages(element));
    }

    @Override
    public void start() {
        if (table.hasRun()) {
            throw new IllegalStateException(
                    "a list of pages that was not prepared runs once; prepare it with Connection.prepared()");
        }
        super.start();
    }

    @Override
    void becomesQuiet() {
        table.runEnded();
    }

    @Override
    @Nullable
    CompletableFuture<Void> takeQuiescence() {
        table.runEnded();
        return super.takeQuiescence();
    }

    @Override
    @Nullable
    SluiceException outcome() {
        SluiceException first = firstError;
        if (first == null) {
            none.clear();
            told = none;
            return null;
        }
        told = (BitSet) failed.clone();
        return new PagesFailedException(told, table.pages(), first);
    }

    @Override
    void deliver(@Nullable SluiceException error) {
        callback.terminated(this, told, error);
    }
}
