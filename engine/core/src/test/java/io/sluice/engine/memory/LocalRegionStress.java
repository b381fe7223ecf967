package io.sluice.engine.memory;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.sluice.engine.EngineId;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** Leases of a region against its closing. Outcomes that are not listed are forbidden. */
final class LocalRegionStress {
    private static final int REFUSED = 0;
    private static final int SAFE = 1;
    private static final int GIVEN_BACK_UNDER_A_LEASE = 2;

    // one for the life of the process, whose housekeeping gives regions back
    private static final RegionRegistry REGIONS = new RegionRegistry(
            List.of(),
            new DescriptorKeys(EngineId.random(), 1),
            closing -> {},
            null,
            new RegionReleases(
                    Executors.newSingleThreadExecutor(task ->
                            Thread.ofPlatform().daemon().name("housekeeping").unstarted(task)),
                    Duration.ofSeconds(10),
                    "stress"),
            null);

    private LocalRegionStress() {}

    /** A region that counts how often it is given back. */
    private static class CountedRegion {
        private final AtomicInteger givenBack = new AtomicInteger();
        final LocalRegion region = new LocalRegion(
                REGIONS,
                1,
                RegionOptions.readWrite(),
                RegionMemory.host(MemorySegment.ofArray(new long[1])),
                TransportRegistrations.none(),
                awaited -> {},
                givenBack::incrementAndGet);

        /** Holds a lease for a moment, and says what it saw. */
        int lease() {
            if (!region.acquire()) {
                return REFUSED;
            }
            int seen = region.isGivenBack() ? GIVEN_BACK_UNDER_A_LEASE : SAFE;
            region.release();
            return seen;
        }

        /** How often it was given back by the time its closing has completed. */
        int timesGivenBack() {
            CompletableFuture<Void> closed = region.close();
            // the housekeeping completes it if all leases are back; otherwise nothing ever does
            if (region.isGivenBack()) {
                closed.join();
            }
            return givenBack.get();
        }
    }

    /** A lease is asked for while the region closes. */
    @JCStressTest
    @Outcome(
            id = {"0, 1", "1, 1"},
            expect = ACCEPTABLE,
            desc = "Refused, or safe; then the memory goes back.")
    @Outcome(id = "2, .*", expect = FORBIDDEN, desc = "The memory is given back under a lease.")
    @Outcome(id = ".*, 0", expect = FORBIDDEN, desc = "The memory is never given back.")
    @Outcome(id = ".*, 2", expect = FORBIDDEN, desc = "The memory is given back twice.")
    @State
    public static class LeaseAgainstClose extends CountedRegion {
        @Actor
        public void lease(II_Result r) {
            r.r1 = lease();
        }

        @Actor
        public void close() {
            region.close();
        }

        @Arbiter
        public void afterwards(II_Result r) {
            r.r2 = timesGivenBack();
        }
    }

    /** The last two leases end while the region closes. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The memory goes back once.")
    @Outcome(id = ".*, 0", expect = FORBIDDEN, desc = "The memory is never given back.")
    @Outcome(id = ".*, 2", expect = FORBIDDEN, desc = "The memory is given back twice.")
    @State
    public static class TwoReleasesAgainstClose extends CountedRegion {
        public TwoReleasesAgainstClose() {
            region.acquire();
            region.acquire();
        }

        @Actor
        public void one(II_Result r) {
            r.r1 = region.isGivenBack() ? GIVEN_BACK_UNDER_A_LEASE : SAFE;
            region.release();
        }

        @Actor
        public void other() {
            region.release();
        }

        @Actor
        public void close() {
            region.close();
        }

        @Arbiter
        public void afterwards(II_Result r) {
            r.r2 = timesGivenBack();
        }
    }

    /** Two threads take leases and end them while a third closes. */
    @JCStressTest
    @Outcome(id = "[01], [01], 1", expect = ACCEPTABLE, desc = "Refused, or safe; then the memory goes back.")
    @Outcome(
            id = {"2, .*", ".*, 2, .*"},
            expect = FORBIDDEN,
            desc = "The memory is given back under a lease.")
    @Outcome(id = ".*, .*, 0", expect = FORBIDDEN, desc = "The memory is never given back.")
    @State
    public static class TwoLeasesAgainstClose extends CountedRegion {
        @Actor
        public void one(III_Result r) {
            r.r1 = lease();
        }

        @Actor
        public void other(III_Result r) {
            r.r2 = lease();
        }

        @Actor
        public void close() {
            region.close();
        }

        @Arbiter
        public void afterwards(III_Result r) {
            r.r3 = timesGivenBack();
        }
    }

    /** Two threads close. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The memory goes back once.")
    @Outcome(id = ".*, 2", expect = FORBIDDEN, desc = "The memory is given back twice.")
    @State
    public static class CloseAgainstClose extends CountedRegion {
        @Actor
        public void one() {
            region.close();
        }

        @Actor
        public void other() {
            region.close();
        }

        @Arbiter
        public void afterwards(II_Result r) {
            r.r1 = region.isGivenBack() ? 1 : 0;
            r.r2 = timesGivenBack();
        }
    }
}
