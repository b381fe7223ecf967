package io.sluice.experts.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.transport.LeasedRegion;
import io.sluice.experts.ExpertBufferClosedException;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.NormalOptions;
import io.sluice.testkit.Patience;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What normal mode has is given back, also what is given back or prepared while it is closed. */
class GpuNormalCloseTest {
    private static final int TOKENS = 4;
    private static final ExpertOptions OPTIONS = ExpertOptions.experts(4)
            .hidden(128)
            .maxTokensPerRank(TOKENS)
            .topK(2)
            .lowLatency(false)
            .timeout(Patience.BOUND);

    private static GpuExpertRanks ranks() {
        return GpuExpertRanks.form(1, GpuExpertOptions.of(OPTIONS).withNormalBlocks(4));
    }

    private static CompletableFuture<Void> close(GpuExpertRanks ranks) {
        return ((GpuMode) ranks.buffer(0).normalMode()).close();
    }

    @Test
    void a_close_waits_for_memory_that_was_given_back_before() {
        try (GpuExpertRanks ranks = ranks()) {
            MemoryRegion choices = ranks.region(0, TOKENS * 2L * Long.BYTES);
            GpuNormalLayout layout = ranks.buffer(0).normalMode().prepareLayout(choices, 0, TOKENS);
            Runnable lease = Objects.requireNonNull(((LeasedRegion) layout.tokensToRanks()).lease(() -> {}));
            layout.close();
            CompletableFuture<Void> closing = close(ranks);
            assertThatThrownBy(() -> Patience.await(closing.copy().orTimeout(200, TimeUnit.MILLISECONDS)))
                    .isNotNull();
            lease.run();
            Patience.await(closing);
        }
    }

    /** It is closed when the memory of the call is not allocated yet. */
    @Test
    void a_call_that_is_prepared_while_the_mode_is_closed_leaves_no_memory() {
        SoftGpuCounts.assumeSoftware();
        try (GpuExpertRanks ranks = ranks()) {
            GpuNormalMode mode = ranks.buffer(0).normalMode();
            MemoryRegion x = ranks.region(0, TOKENS * 256L);
            MemoryRegion choices = ranks.region(0, TOKENS * 2L * Long.BYTES);
            MemoryRegion weights = ranks.region(0, TOKENS * 2L * Float.BYTES);
            GpuNormalLayout layout = mode.prepareLayout(choices, 0, TOKENS);
            List<CompletableFuture<Void>> closing = new ArrayList<>();
            MemoryRegion closer = (MemoryRegion) Proxy.newProxyInstance(
                    GpuNormalCloseTest.class.getClassLoader(),
                    new Class<?>[] {MemoryRegion.class, LeasedRegion.class},
                    (proxy, method, arguments) -> {
                        if (method.getName().equals("kind") && closing.isEmpty()) {
                            closing.add(close(ranks));
                            Patience.await(closing.getFirst());
                        }
                        try {
                            return method.invoke(x, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
            long before = SoftGpuCounts.all().getFirst();
            assertThatThrownBy(() ->
                            mode.prepareDispatch(closer, 0, choices, 0, weights, 0, layout, NormalOptions.defaults()))
                    .isInstanceOf(ExpertBufferClosedException.class);
            assertThat(closing).hasSize(1);
            // less the memory of the layout and of the results
            Patience.until("nothing is left", () -> SoftGpuCounts.all().getFirst() < before);
        }
    }
}
