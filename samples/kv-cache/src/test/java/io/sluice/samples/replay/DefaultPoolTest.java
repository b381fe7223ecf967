package io.sluice.samples.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.kvcache.PageGeometry;
import org.junit.jupiter.api.Test;

class DefaultPoolTest {

    private static final long GIB = 1L << 30;

    @Test
    void hasRoomForTheLongestRecordedRequestsOfASmallModel() {
        ModelPreset model = ModelPreset.named("qwen2.5-0.5b");
        long bytes = DefaultPool.bytes(model, 20 * GIB);
        assertThat(bytes).isEqualTo(6 * GIB);
        assertThat(PageGeometry.fitting(model, bytes).slots() * 16).isGreaterThan(4 * 120_633);
    }

    @Test
    void takesAtMostAThirdOfTheFreeMemory() {
        assertThat(DefaultPool.bytes(ModelPreset.named("llama-3.1-70b"), 24 * GIB))
                .isEqualTo(8 * GIB);
    }
}
