package io.sluice.experts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Which communication back end is chosen: that of the options, else of the environment, else {@code sluice}; and that
 * results are the same with the least that one may offer.
 */
class ExpertBackendsTest {
    private static final ExpertOptions OPTIONS = ExpertOptions.experts(4);

    @Test
    void withoutAChoiceItIsSluice() {
        assertThat(ExpertBackends.of(OPTIONS, null).name()).isEqualTo("sluice");
        assertThat(ExpertBackends.of(OPTIONS, " ").name()).isEqualTo("sluice");
    }

    @Test
    void theEnvironmentChooses() {
        assertThat(ExpertBackends.of(OPTIONS, " sluice ").name()).isEqualTo("sluice");
        assertThatThrownBy(() -> ExpertBackends.of(OPTIONS, "carrier-pigeon"))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("carrier-pigeon")
                .hasMessageContaining("sluice");
    }

    @Test
    void optionsComeBeforeTheEnvironment() {
        assertThat(ExpertBackends.of(OPTIONS.backend("sluice"), "carrier-pigeon")
                        .name())
                .isEqualTo("sluice");
        assertThatThrownBy(() -> ExpertBackends.of(OPTIONS.backend("carrier-pigeon"), "sluice"))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("carrier-pigeon");
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void anotherBackEndIsFoundAndBringsTheSame(String transport) {
        try (CrossRanks ranks = CrossRanks.form(transport, 3)) {
            // normal mode puts from regions of the user
            ranks.createBuffers(ExpertOptions.experts(6)
                    .hidden(512)
                    .maxTokensPerRank(10)
                    .topK(3)
                    .normalMode(false)
                    .backend(PlainBackendProvider.NAME));
            assertThat(ranks.buffer(0).backend()).isEqualTo(PlainBackendProvider.NAME);
            for (ExpertCross.Variant variant : ExpertCross.Variant.values()) {
                for (int round = 0; round < 3; round++) {
                    Workload work = EveryFormTest.work(ranks, Workload.Mask.SOME, round);
                    ExpertCross.Encoding encoding = ExpertCross.Encoding.values()[variant.ordinal()];
                    new LowLatencyRun(ranks, "back end, " + variant, work, encoding, variant).round();
                }
            }
        }
    }
}
