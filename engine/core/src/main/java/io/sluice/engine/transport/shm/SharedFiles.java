package io.sluice.engine.transport.shm;

import io.sluice.engine.Access;
import io.sluice.engine.RegistrationException;
import io.sluice.jni.Errno;
import io.sluice.jni.Memory;
import io.sluice.jni.SharedMemory;
import io.sluice.jni.Sockets;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates the files that back allocated regions. Any thread. */
final class SharedFiles {
    private static final Logger LOG = LoggerFactory.getLogger(SharedFiles.class);

    private final ShmOptions options;
    private final AtomicLong next = new AtomicLong(1);
    private final AtomicBoolean saidNoHugePages = new AtomicBoolean();

    SharedFiles(ShmOptions options) {
        this.options = options;
    }

    SharedFile allocate(long bytes, Set<Access> access) {
        // mapped by this side before sealing: afterwards no process can map it for writing
        boolean readOnly = !access.contains(Access.REMOTE_WRITE);
        if (options.hugePages()) {
            try {
                return make(bytes, SharedMemory.hugePageSize(), true, readOnly);
            } catch (RegistrationException e) {
                if (!saidNoHugePages.getAndSet(true)) {
                    LOG.warn(
                            "regions get ordinary pages, because the host has no free huge pages (reserve some with"
                                    + " vm.nr_hugepages): {}",
                            e.getMessage());
                }
            }
        }
        return make(bytes, Memory.pageSize(), false, readOnly);
    }

    private SharedFile make(long bytes, long pageBytes, boolean hugePages, boolean readOnly) {
        checked(pageBytes, "determine the page size for", bytes);
        long fileBytes = roundUp(bytes, pageBytes);
        long number = next.getAndIncrement();
        byte[] name = ("sluice-region-" + number).getBytes(StandardCharsets.US_ASCII);
        int file =
                (int) checked(SharedMemory.create(name, fileBytes, hugePages, options.prefault()), "allocate", bytes);
        try {
            long address = checked(SharedMemory.map(file, fileBytes, true, options.prefault()), "map", bytes);
            try {
                checked(SharedMemory.seal(file, readOnly), "seal", bytes);
            } catch (RegistrationException e) {
                SharedMemory.unmap(address, fileBytes);
                throw e;
            }
            return new SharedFile(file, number, fileBytes, !readOnly, hugePages, address, bytes);
        } catch (RegistrationException e) {
            Sockets.close(file);
            throw e;
        }
    }

    private static long roundUp(long bytes, long pageBytes) {
        if (bytes > Long.MAX_VALUE - pageBytes) {
            throw new RegistrationException("cannot allocate " + bytes + " bytes: no memory is that large");
        }
        return (bytes + pageBytes - 1) / pageBytes * pageBytes;
    }

    private static long checked(long result, String what, long bytes) {
        if (result < 0) {
            int error = (int) -result;
            throw new RegistrationException("cannot " + what + " " + bytes + " bytes of shared memory: "
                    + Errno.message(error) + advice(error));
        }
        return result;
    }

    /** Advice on an error of shared memory; empty if there is none. */
    static String advice(int error) {
        return switch (error) {
            case Errno.ENOMEM, Errno.ENOSPC ->
                "; ask for less, or see the memory limit of the container and of the process (ulimit -v,"
                        + " vm.max_map_count)";
            case Errno.EMFILE, Errno.ENFILE -> "; each allocated region keeps a file open: raise the limit (ulimit -n)";
            case Errno.EFBIG ->
                "; shared memory is a file of that size: raise the process's limit of file sizes (ulimit -f,"
                        + " LimitFSIZE= of systemd), ask for less, or leave shm out (SLUICE_TRANSPORTS=tcp)";
            default -> "";
        };
    }
}
