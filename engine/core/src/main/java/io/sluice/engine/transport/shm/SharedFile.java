package io.sluice.engine.transport.shm;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.AllocatedMemory;
import io.sluice.engine.transport.MappedSegment;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.jni.SharedMemory;
import io.sluice.jni.Sockets;

/**
 * A region's memory as a sealed anonymous file. Never reused once closed, because a peer that has mapped it cannot be
 * forced to unmap it.
 */
final class SharedFile implements AllocatedMemory {
    private final int descriptor;
    private final long number;
    private final long fileBytes;
    private final boolean writable;
    private final boolean hugePages;
    private final MappedSegment mapped;
    private final RegionMemory memory;

    /**
     * Takes ownership of a file.
     *
     * @param descriptor the file's descriptor
     * @param number unique in this engine, so that a peer maps the file once
     * @param fileBytes the file size
     * @param writable whether peers may write
     * @param hugePages whether the file consists of huge pages
     * @param address the file's address in this process
     * @param bytes how many of its bytes belong to the region
     */
    SharedFile(
            int descriptor,
            long number,
            long fileBytes,
            boolean writable,
            boolean hugePages,
            long address,
            long bytes) {
        this.descriptor = descriptor;
        this.number = number;
        this.fileBytes = fileBytes;
        this.writable = writable;
        this.hugePages = hugePages;
        this.mapped = new MappedSegment(address, fileBytes, SharedMemory::unmap);
        this.memory = RegionMemory.host(mapped.segment().asSlice(0, bytes));
    }

    int descriptor() {
        return descriptor;
    }

    long number() {
        return number;
    }

    long fileBytes() {
        return fileBytes;
    }

    boolean isWritable() {
        return writable;
    }

    boolean hasHugePages() {
        return hugePages;
    }

    @Override
    public RegionMemory memory() {
        return memory;
    }

    @Override
    public RegisteredMemory registration() {
        return new Registration(this);
    }

    @Override
    public void close() {
        mapped.close();
        Sockets.close(descriptor);
    }

    /** The transport's registration of the region. It ends with the memory, which is freed right after. */
    record Registration(SharedFile file) implements RegisteredMemory {}
}
