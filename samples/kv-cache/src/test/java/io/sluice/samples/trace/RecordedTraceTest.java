package io.sluice.samples.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.kvcache.PrefixCache;
import io.sluice.samples.kvcache.PrefixCache.Admission;
import io.sluice.samples.kvcache.RequestPlan;
import io.sluice.samples.kvcache.TokenLayout;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RecordedTraceTest {

    @Test
    void everyLineIsARequest() throws IOException {
        try (TraceReader reader = TraceReader.open(RecordedTrace.file(), TraceReader.Mode.STRICT)) {
            Set<Long> seen = new HashSet<>();
            long requests = 0;
            long blocks = 0;
            long repeated = 0;
            while (reader.hasNext()) {
                TraceRequest request = reader.next();
                requests++;
                for (int i = 0; i < request.blockHashes().size(); i++) {
                    blocks++;
                    repeated += seen.add(request.blockHashes().get(i)) ? 0 : 1;
                }
            }
            assertThat(requests).isEqualTo(RecordedTrace.REQUESTS);
            assertThat((double) repeated / blocks).isCloseTo(RecordedTrace.REPEATED, within(0.001));
            assertThat(reader.skipped().count()).isZero();
        }
    }

    @Test
    void aLargePoolReusesWhatTheTraceRepeats() throws IOException {
        try (TraceReader reader = TraceReader.open(RecordedTrace.file(), TraceReader.Mode.STRICT)) {
            PrefixCache cache = new PrefixCache(new PageGeometry(61, 18_432, 6_000_000));
            assertThat(hitRate(reader, cache)).isCloseTo(0.37, within(0.02));
            assertThat(cache.evictedBlocks()).isZero();
        }
    }

    @Test
    void aSmallPoolStillServesEveryRequest() throws IOException {
        try (TraceReader reader = TraceReader.open(RecordedTrace.file(), TraceReader.Mode.STRICT)) {
            PrefixCache cache = new PrefixCache(PageGeometry.fitting(ModelPreset.named("llama-3.1-8b"), 20L << 30));
            assertThat(hitRate(reader, cache)).isBetween(0.02, 0.37);
            assertThat(cache.evictedBlocks()).isPositive();
        }
    }

    private static double hitRate(TraceReader reader, PrefixCache cache) {
        long moved = 0;
        long reused = 0;
        long whole = 0;
        while (reader.hasNext()) {
            TraceRequest request = reader.next();
            RequestPlan plan = ((Admission.Admitted) cache.admit(request.inputTokens(), request.blockHashes())).plan();
            cache.complete(plan);
            cache.release(plan);
            moved += plan.pagesToMovePerLayer();
            reused += plan.wholePages() - plan.pagesToMovePerLayer();
            whole += TokenLayout.wholePages(request.inputTokens());
        }
        assertThat(moved + reused).isEqualTo(whole);
        return (double) reused / whole;
    }
}
