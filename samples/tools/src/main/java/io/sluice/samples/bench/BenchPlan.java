package io.sluice.samples.bench;

import io.sluice.engine.RemoteRegion;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A plan of measurements, one size after the other.
 *
 * @param operation what a transfer does
 * @param api through what it is started
 * @param sizes of an element, in bytes
 * @param inflight elements in flight on each connection
 * @param iov elements of a transfer; 1 if it is not vectored
 * @param connections how many, all driven alike
 * @param buffers which memory the elements use
 * @param regions whose memory that is, on this side
 * @param memory where it is, on this side
 * @param serverMemory the same of the serving side, if it is chosen here
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
        MemoryPlace memory,
        @Nullable MemoryPlace serverMemory,
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
     * the window stays full while one of them ends; the window bounds the elements in flight. Of lists of pages, which it does not
     * bound, there are as many as hold the elements.
     */
    int transfersAtATime() {
        if (operation.isPages()) {
            return Math.ceilDiv(inflight, iov);
        }
        return operation.isVectored() ? Math.ceilDiv(inflight, iov) + 1 : inflight;
    }

    /** Where the peer's region is; of one that was there before only the kind is known. */
    String serverPlace(RemoteRegion remote) {
        return serverMemory == null
                ? remote.descriptor().kind().name().toLowerCase(Locale.ROOT)
                : serverMemory.toString();
    }

    /** Memory that the serving side has to offer, in bytes. */
    public long serverBytes() {
        return Math.addExact(scratchOffset(), memory.isHost() ? 0 : LocalMemory.SCRATCH_BYTES);
    }

    /** Where the serving side's memory begins that no element uses. */
    long scratchOffset() {
        return sizes.stream()
                .mapToLong(size -> Math.multiplyExact(Layout.of(this, size).remoteBytes(), (long) connections))
                .max()
                .orElse(1);
    }
}
