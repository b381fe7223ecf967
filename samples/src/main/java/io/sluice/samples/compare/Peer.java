package io.sluice.samples.compare;

import io.sluice.samples.compare.CeilingMemoryCopy.Memory;
import java.util.Locale;

/** What transfers are compared with. */
enum Peer {
    /** A stream of bytes that nobody acknowledges but the kernel; for writes. */
    IPERF3 {
        @Override
        Measurement measurement(Subject subject) {
            return new IperfStream(Math.min(subject.size(), IperfStream.MOST_BYTES));
        }
    },
    /** UCX with its defaults, over tcp or over shared memory. */
    UCX {
        @Override
        Measurement measurement(Subject subject) {
            UcxTransfers.Transports transports =
                    subject.route() == Route.TCP ? UcxTransfers.Transports.TCP : UcxTransfers.Transports.SHARED_MEMORY;
            return new UcxTransfers(subject.operation(), subject.size(), subject.inflight(), transports);
        }
    },
    /**
     * Plain C: beside tcp over a socket, a system call for each frame; beside shm copies between two shared mappings of its
     * own.
     */
    CEILING {
        @Override
        Measurement measurement(Subject subject) {
            if (subject.route() == Route.SHM) {
                return new CeilingMemoryCopy(subject.size(), subject.size(), Memory.SHARED);
            }
            return new CeilingTransfers(subject.operation(), subject.size(), subject.inflight());
        }
    },
    /** Plain C that spins on a socket; for the latency of 8 bytes. */
    PING_PONG {
        @Override
        Measurement measurement(Subject subject) {
            return new CeilingPingPong();
        }
    },
    /**
     * {@code memcpy}. Beside tcp it goes through private memory, within the processor's cache for sizes that fit, else
     * beyond it. Beside shm it copies between the same memory as shm does.
     */
    MEMCPY {
        @Override
        Measurement measurement(Subject subject) {
            long size = subject.size();
            return subject.route() == Route.TCP
                    ? new CeilingMemoryCopy(size, size <= CACHED_BYTES ? size : UNCACHED_SPAN_BYTES, Memory.PRIVATE)
                    : new SameMemoryCopy(size);
        }
    },
    /** Plain C that writes into another process's memory with one system call; for cross-memory attach. */
    PROCESS_VM_WRITEV {
        @Override
        Measurement measurement(Subject subject) {
            return new CeilingCrossMemoryWrite(subject.size());
        }
    };

    private static final long CACHED_BYTES = 1L << 20;
    private static final long UNCACHED_SPAN_BYTES = 256L << 20;

    /** What to measure of it, beside our transfers. */
    abstract Measurement measurement(Subject subject);

    /** Its name in tables and options. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
