package io.sluice.samples.compare;

import io.sluice.samples.bench.Operation;
import java.util.Locale;
import java.util.Map;

/** What transfers are compared with. */
enum Peer {
    /** A stream of bytes that nobody acknowledges but the kernel; for writes. */
    IPERF3 {
        @Override
        Measurement measurement(Operation operation, long size, int inflight) {
            return new IperfStream(Math.min(size, IperfStream.MOST_BYTES));
        }
    },
    /** UCX over tcp with its defaults. */
    UCX {
        @Override
        Measurement measurement(Operation operation, long size, int inflight) {
            return new UcxTransfers(operation, size, inflight, Map.of());
        }
    },
    /** Plain C over a socket, a system call for each frame. */
    CEILING {
        @Override
        Measurement measurement(Operation operation, long size, int inflight) {
            return new CeilingTransfers(operation, size, inflight);
        }
    },
    /** Plain C that spins on a socket; for the latency of 8 bytes. */
    PING_PONG {
        @Override
        Measurement measurement(Operation operation, long size, int inflight) {
            return new CeilingPingPong();
        }
    },
    /** {@code memcpy}, in the processor's cache for sizes that fit, else beyond it. */
    MEMCPY {
        @Override
        Measurement measurement(Operation operation, long size, int inflight) {
            return new CeilingMemoryCopy(size, size <= CACHED_BYTES ? size : UNCACHED_SPAN_BYTES);
        }
    };

    private static final long CACHED_BYTES = 1L << 20;
    private static final long UNCACHED_SPAN_BYTES = 256L << 20;

    /** What to measure of it, beside transfers of an operation, a size and so many in flight. */
    abstract Measurement measurement(Operation operation, long size, int inflight);

    /** Its name in tables and options. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
