package io.sluice.samples.bench;

import java.time.Duration;
import java.util.List;

/**
 * What to measure, one size after the other.
 *
 * @param operation what a transfer does
 * @param api through what it is started
 * @param sizes of an element, in bytes
 * @param inflight elements in flight on each connection
 * @param iov elements of a transfer; 1 if it is not vectored
 * @param connections how many, all driven alike
 * @param buffers which memory the elements use
 * @param regions whose memory that is, on this side
 * @param duration how long to measure each size
 * @param warmup how long to run before
 * @param verify whether every element's bytes are compared
 * @param memcpy whether the same memory is copied by {@code memcpy}, too, in turns with the transfers
 */
public record BenchPlan(
        BenchOperation operation,
        Api api,
        List<Long> sizes,
        int inflight,
        int iov,
        int connections,
        Buffers buffers,
        RegionMemory regions,
        Duration duration,
        Duration warmup,
        boolean verify,
        boolean memcpy) {
    /** Copies the sizes. */
    public BenchPlan {
        sizes = List.copyOf(sizes);
    }

    /**
     * Transfers that a connection keeps going. Of vectored ones there is one more than it takes to fill the window, so that
     * the window stays full while one of them ends; the window bounds the elements in flight.
     */
    int transfersAtATime() {
        return operation.isVectored() ? Math.ceilDiv(inflight, iov) + 1 : inflight;
    }

    /** Memory that the serving side has to offer, in bytes. */
    public long serverBytes() {
        return sizes.stream()
                .mapToLong(size -> Math.multiplyExact(Layout.of(this, size).remoteBytes(), (long) connections))
                .max()
                .orElse(1);
    }
}
