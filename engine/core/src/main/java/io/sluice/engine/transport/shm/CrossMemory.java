package io.sluice.engine.transport.shm;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.Errno;
import io.sluice.jni.PeerMemory;
import io.sluice.jni.Sockets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The peer's memory through cross-memory attach. A pidfd identifies the process and is checked before each batch, so
 * that a write never reaches another process with a recycled pid. On the loop's thread.
 */
final class CrossMemory implements AutoCloseable {
    /** The process has ended or is about to. */
    static final int PROCESS_ENDED = -1;

    private final int process;
    private final int processDescriptor;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment records =
            arena.allocate((long) PeerMemory.MAX_RECORDS * PeerMemory.RECORD_BYTES, Long.BYTES);

    private CrossMemory(int process, int processDescriptor) {
        this.process = process;
        this.processDescriptor = processDescriptor;
    }

    /** The result of an attempt: the access, or the reason for its refusal. */
    record Attempt(@Nullable CrossMemory memory, String refused) {}

    /** Tries to read the peer's probe. */
    static Attempt attempt(int process, ShmOffer peer) {
        if (process <= 0) {
            return new Attempt(null, "the peer's process is in another pid namespace");
        }
        int descriptor = PeerMemory.openProcess(process);
        if (descriptor < 0) {
            return new Attempt(null, "cannot open the peer's process (pidfd_open): " + Errno.message(-descriptor));
        }
        CrossMemory memory;
        try {
            memory = new CrossMemory(process, descriptor);
        } catch (RuntimeException | Error e) {
            Sockets.close(descriptor);
            throw e;
        }
        String refused;
        try {
            refused = memory.whyNot(peer);
        } catch (RuntimeException | Error e) {
            memory.close();
            throw e;
        }
        if (refused != null) {
            memory.close();
            return new Attempt(null, refused);
        }
        return new Attempt(memory, "");
    }

    private @Nullable String whyNot(ShmOffer peer) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment seen = scratch.allocate(ShmOffer.PROBE_BYTES);
            put(0, seen.address(), peer.probeAddress(), ShmOffer.PROBE_BYTES);
            long read = PeerMemory.read(processDescriptor, process, records.address(), 1);
            if (read < 0) {
                int error = (int) -read;
                return "the kernel refuses process_vm_readv: " + Errno.message(error)
                        + (error == Errno.EPERM
                                ? " (another user, a container without CAP_SYS_PTRACE, or kernel.yama.ptrace_scope)"
                                : "");
            }
            return read == ShmOffer.PROBE_BYTES && Arrays.equals(seen.toArray(ValueLayout.JAVA_BYTE), peer.probe())
                    ? null
                    : "the peer's process id belongs to another process";
        }
    }

    private void put(int index, long local, long peer, long length) {
        long at = (long) index * PeerMemory.RECORD_BYTES;
        records.set(ValueLayout.JAVA_LONG, at, local);
        records.set(ValueLayout.JAVA_LONG, at + 8, peer);
        records.set(ValueLayout.JAVA_LONG, at + 16, length);
    }

    /** The most requests in one native call. */
    static int mostRequests() {
        return PeerMemory.MAX_RECORDS;
    }

    /**
     * Executes requests of one operation.
     *
     * @return how many succeeded, counted from the first, or {@link #PROCESS_ENDED}
     */
    int execute(WorkRequest[] batch, int from, int count) {
        long wanted = 0;
        for (int i = 0; i < count; i++) {
            WorkRequest request = batch[from + i];
            ShmRemoteKey key = (ShmRemoteKey) request.remote();
            put(i, request.localAddress(), key.keys().start() + request.remoteOffset(), request.length());
            wanted += request.length();
        }
        long moved = batch[from].operation() == WorkRequest.Opcode.READ
                ? PeerMemory.read(processDescriptor, process, records.address(), count)
                : PeerMemory.write(processDescriptor, process, records.address(), count);
        if (moved == wanted) {
            return count;
        }
        if (moved == -Errno.ESRCH) {
            return PROCESS_ENDED;
        }
        int done = 0;
        for (long left = Math.max(0, moved); done < count && left >= batch[from + done].length(); done++) {
            left -= batch[from + done].length();
        }
        return done;
    }

    /** Returns why the first request of a batch failed although the process is alive. */
    static CompletionStatus whyFailed(WorkRequest request) {
        // the kernel does not report whose memory it could not access
        return request.local().isAlive() ? CompletionStatus.REMOTE_MEMORY_FAULT : CompletionStatus.LOCAL_MEMORY_FAULT;
    }

    @Override
    public void close() {
        Sockets.close(processDescriptor);
        arena.close();
    }
}
