package io.sluice.engine.transport.shm;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.MemoryCopy;
import java.lang.foreign.MemorySegment;

/**
 * Copies the pages of one request between mapped segments: in one downcall, or page by page through the kernel where a
 * file may have been truncated. Any thread.
 */
final class MappedPages {
    private MappedPages() {}

    /** Throws IllegalStateException if a segment is closed. */
    static CompletionStatus execute(WorkRequest request, MemorySegment memory) {
        boolean write = request.operation() == WorkRequest.Opcode.WRITE;
        if (write && memory.isReadOnly()) {
            return CompletionStatus.ACCESS_DENIED;
        }
        MemorySegment local = request.local().segment();
        PageTable table = request.pages();
        int first = request.firstPage();
        int count = request.pageCount();
        long bytes = table.pageBytes();
        if (local.isMapped() || memory.isMapped()) {
            return oneByOne(write, local, memory, table, first, count);
        }
        long copied = write
                ? MemoryCopy.copyPages(memory, table.remotes(), local, table.locals(), first, count, bytes)
                : MemoryCopy.copyPages(local, table.locals(), memory, table.remotes(), first, count, bytes);
        return copied == count ? CompletionStatus.SUCCESS : CompletionStatus.OUT_OF_BOUNDS;
    }

    /** Copies pages of a file that other processes can truncate, through the kernel. */
    private static CompletionStatus oneByOne(
            boolean write, MemorySegment local, MemorySegment memory, PageTable table, int first, int count) {
        long bytes = table.pageBytes();
        for (int page = first; page < first + count; page++) {
            long remoteOffset = table.remote(page);
            if (remoteOffset > memory.byteSize() - bytes) {
                return CompletionStatus.OUT_OF_BOUNDS;
            }
            boolean present = write
                    ? MappedMemory.copy(local, table.local(page), memory, remoteOffset, bytes)
                    : MappedMemory.copy(memory, remoteOffset, local, table.local(page), bytes);
            if (!present) {
                return CompletionStatus.LOCAL_MEMORY_FAULT;
            }
        }
        return CompletionStatus.SUCCESS;
    }
}
