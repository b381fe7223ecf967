package io.sluice.samples.compare;

import io.sluice.samples.compare.BaselineMemoryCopy.Memory;
import java.util.Locale;

/** What transfers are compared with. */
enum Peer {
    /** A stream of bytes that nobody acknowledges but the kernel; for writes. */
    IPERF3 {
        @Override
        Measurement measurement(Transfers beside) {
            return new IperfStream(Math.min(beside.size(), IperfStream.MOST_BYTES));
        }
    },
    /** UCX with its defaults, over tcp or over shared memory. Beside a vectored transfer as many single ones are outstanding. */
    UCX {
        @Override
        Measurement measurement(Transfers beside) {
            return UcxTransfers.beside(
                    beside,
                    beside.route() == Route.TCP ? UcxTransfers.Transports.TCP : UcxTransfers.Transports.SHARED_MEMORY);
        }
    },
    /** UCX through its Java binding, over tcp with its defaults. */
    JUCX {
        @Override
        Measurement measurement(Transfers beside) {
            return JucxTransfers.beside(beside);
        }
    },
    /** UCX over tcp with longer segments than its defaults. */
    UCX_TUNED {
        @Override
        Measurement measurement(Transfers beside) {
            return UcxTransfers.beside(beside, UcxTransfers.Transports.TCP_TUNED);
        }
    },
    /**
     * Plain C: beside tcp over a socket, a system call for each frame; beside shm copies between two shared mappings of its
     * own.
     */
    CEILING {
        @Override
        Measurement measurement(Transfers beside) {
            if (beside.route() == Route.SHM) {
                return new BaselineMemoryCopy(beside.size(), beside.size(), Memory.SHARED);
            }
            return new BaselineTransfers(beside.operation(), beside.size(), beside.inflight());
        }
    },
    /** The same program over a socket with one transfer in flight; for what ours takes when there is nothing to gather. */
    CEILING_ALONE {
        @Override
        Measurement measurement(Transfers beside) {
            return new BaselineTransfers(beside.operation(), beside.size(), 1);
        }
    },
    /** Plain C that spins on a socket; for the latency of 8 bytes. */
    PING_PONG {
        @Override
        Measurement measurement(Transfers beside) {
            return new BaselinePingPong(BaselinePingPong.Waiting.BUSY);
        }
    },
    /** The same with both sides asleep in the kernel until the ball comes. */
    BLOCKING_PING_PONG {
        @Override
        Measurement measurement(Transfers beside) {
            return new BaselinePingPong(BaselinePingPong.Waiting.BLOCKED);
        }
    },
    /**
     * {@code memcpy}. Beside tcp it goes through private memory, within the processor's cache for sizes that fit, else
     * beyond it. Beside shm it copies between the same memory as shm does.
     */
    MEMCPY {
        @Override
        Measurement measurement(Transfers beside) {
            long size = beside.size();
            return beside.route() == Route.TCP
                    ? new BaselineMemoryCopy(size, size <= CACHED_BYTES ? size : UNCACHED_SPAN_BYTES, Memory.PRIVATE)
                    : new SameMemoryCopy(size);
        }
    },
    /** Plain C that writes into another process's memory with one system call; for cross-memory attach. */
    PROCESS_VM_WRITEV {
        @Override
        Measurement measurement(Transfers beside) {
            return new BaselineCrossMemoryWrite(beside.size());
        }
    };

    private static final long CACHED_BYTES = 1L << 20;
    private static final long UNCACHED_SPAN_BYTES = 256L << 20;

    /** What to measure of it, beside our transfers. */
    abstract Measurement measurement(Transfers beside);

    /** Its name in tables and options. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
