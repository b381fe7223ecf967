package io.sluice.engine.transport.shm;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.transport.MappedSegment;
import io.sluice.jni.Errno;
import io.sluice.jni.SharedMemory;

/** The file of a peer's region, mapped once for all its attachments. On the loop's thread. */
final class RemoteFile {
    private final MappedSegment mapped;
    private final boolean writable;
    private int users;

    private RemoteFile(long address, RegionKeys keys) {
        mapped = new MappedSegment(address, keys.fileBytes(), SharedMemory::unmap);
        writable = keys.writable();
    }

    /**
     * Maps a file; the caller keeps the descriptor.
     *
     * @throws ProtocolException if an honest peer would not send such a file; it is not mapped then
     * @throws RegistrationException if this process has no address space for it
     */
    static RemoteFile map(int descriptor, RegionKeys keys) {
        int refused = SharedMemory.check(descriptor, keys.fileBytes(), keys.hugePages());
        if (refused < 0) {
            throw new ProtocolException(
                    "the peer's region is refused, because its memory is not sealed or has another size: "
                            + Errno.message(-refused));
        }
        long address = SharedMemory.map(descriptor, keys.fileBytes(), keys.writable(), false);
        if (address == -Errno.EPERM || address == -Errno.EACCES) {
            throw new ProtocolException(
                    "the file of the peer's region is read-only, though its descriptor grants writing");
        }
        if (address < 0) {
            throw new RegistrationException("cannot map the peer's region of " + keys.fileBytes() + " bytes: "
                    + Errno.message((int) -address) + "; see the limits of the process (ulimit -v, vm.max_map_count)");
        }
        return new RemoteFile(address, keys);
    }

    /** Whether these keys name this file as it was mapped. */
    boolean fits(RegionKeys keys) {
        return mapped.segment().byteSize() == keys.fileBytes() && writable == keys.writable();
    }

    long address() {
        return mapped.segment().address();
    }

    /** Unmaps the file if no attachment uses it; returns true if so. */
    boolean closeIfUnused() {
        if (users > 0) {
            return false;
        }
        mapped.close();
        return true;
    }

    void use() {
        users++;
    }

    /** Removes one user; returns true if it was the last and the file is unmapped. */
    boolean leave() {
        if (--users > 0) {
            return false;
        }
        mapped.close();
        return true;
    }
}
