package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.transport.LeasedRegion;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Leases of what lets a device work on a region without transfers. */
class LeasedRegionTest {
    private final TransferEngine engine = TransferEngine.open(
            PatientOptions.builder().transports(List.of("tcp")).build());

    @AfterEach
    void close() {
        Patience.await(engine.closeAsync());
    }

    @Test
    void a_region_closes_after_its_leases_have_ended_and_their_holders_are_told() {
        MemoryRegion region = engine.allocate(4096, RegionOptions.local());
        AtomicInteger told = new AtomicInteger();
        Runnable first = ((LeasedRegion) region).lease(told::incrementAndGet);
        Runnable second = ((LeasedRegion) region.slice(8, 8)).lease(told::incrementAndGet);
        Runnable ended = ((LeasedRegion) region).lease(told::incrementAndGet);
        ended.run();
        CompletableFuture<Void> closed = region.close();
        assertThat(told).hasValue(2);
        assertThat(((LeasedRegion) region).lease(told::incrementAndGet)).isNull();
        first.run();
        first.run();
        ended.run();
        assertThat(closed).isNotDone();
        second.run();
        Patience.await(closed);
        assertThat(told).hasValue(2);
    }

    /** Whichever comes first: there is no lease, or its holder is told. */
    @Test
    void a_lease_that_is_taken_while_the_region_closes_is_told_or_refused() {
        for (int round = 0; round < 300; round++) {
            MemoryRegion region = engine.allocate(8, RegionOptions.local());
            CompletableFuture<Void> told = new CompletableFuture<>();
            Thread closing = Thread.ofPlatform().start(region::close);
            Runnable lease = ((LeasedRegion) region).lease(() -> told.complete(null));
            if (lease != null) {
                Patience.await(told);
                lease.run();
            }
            Patience.join(closing);
            Patience.await(region.close());
        }
    }
}
