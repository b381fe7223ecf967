package io.sluice.experts.cuda;

import io.sluice.experts.CombineFormat;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.cuda.LowLatencyPairs.Choice;
import io.sluice.experts.cuda.LowLatencyPairs.Form;
import io.sluice.testkit.Patience;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Dispatch and combine in memory of GPUs have the bits of those in memory of the host, of one to three ranks. */
class GpuLowLatencyTest {
    private static final int MOST_TOKENS = 6;

    private static ExpertOptions options(int hidden, int topK) {
        return ExpertOptions.experts(12)
                .hidden(hidden)
                .maxTokensPerRank(MOST_TOKENS)
                .topK(topK)
                .timeout(Patience.BOUND);
    }

    private static int[] tokens(int ranks, int each) {
        int[] tokens = new int[ranks];
        Arrays.fill(tokens, each);
        return tokens;
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"1, 1, 128", "1, 2, 512", "2, 8, 512", "3, 1, 128", "2, 3, 640", "1, 9, 1024"})
    void has_the_bits_of_the_host_in_other_shapes(int size, int topK, int hidden) {
        has_the_bits_of_the_host(size, topK, hidden);
    }

    @ParameterizedTest
    @CsvSource({"1, 8, 128", "2, 1, 512", "2, 2, 128", "3, 2, 512", "3, 8, 128"})
    void has_the_bits_of_the_host(int size, int topK, int hidden) {
        try (LowLatencyPairs pairs = new LowLatencyPairs(size, options(hidden, topK))) {
            int round = 0;
            for (int count : new int[] {MOST_TOKENS, 0, 1, MOST_TOKENS - 1, -1}) {
                int[] tokens = tokens(size, count);
                for (int rank = 0; count < 0 && rank < size; rank++) {
                    tokens[rank] = rank * 5 % (MOST_TOKENS + 1);
                }
                for (Choice choice : Choice.values()) {
                    DispatchFormat format = DispatchFormat.values()[round % (hidden % 512 == 0 ? 4 : 3)];
                    Form form = Form.values()[round / 2 % Form.values().length];
                    CombineFormat combined = CombineFormat.values()[round / 2 % 2];
                    pairs.draw(tokens, choice, 31L * round + size);
                    pairs.check(
                            "round %d: %d ranks, %s tokens, %s, %s, %s, %s"
                                    .formatted(round, size, Arrays.toString(tokens), choice, format, form, combined),
                            format,
                            form,
                            combined);
                    round++;
                }
            }
        }
    }

    /** Each hidden length has kernels of its own. */
    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"2048", "4096"})
    void other_common_lengths_have_kernels_of_their_own(int hidden) {
        common_lengths_have_kernels_of_their_own(hidden);
    }

    @ParameterizedTest
    @CsvSource("7168")
    void common_lengths_have_kernels_of_their_own(int hidden) {
        ExpertOptions options = options(hidden, 2).maxTokensPerRank(2);
        try (LowLatencyPairs pairs = new LowLatencyPairs(2, options)) {
            for (DispatchFormat format : DispatchFormat.values()) {
                pairs.draw(new int[] {2, 1}, Choice.RANDOM, hidden + format.ordinal());
                CombineFormat combined = CombineFormat.values()[format.ordinal() / 2];
                pairs.check(
                        "hidden %d, %s, %s".formatted(hidden, format, combined),
                        format,
                        Form.values()[format.ordinal()],
                        combined);
            }
        }
    }

    /** All 65,280 finite numbers, in groups of one sign and nearly one exponent, and all mixed. */
    @Test
    void every_finite_number_has_the_code_and_scale_of_the_host() {
        ExpertOptions options = options(16_384, 1).maxTokensPerRank(4);
        try (LowLatencyPairs pairs = new LowLatencyPairs(1, options)) {
            for (int stride : new int[] {1, 12_289}) {
                pairs.draw(new int[] {4}, Choice.RANDOM, stride);
                pairs.fillFinite(stride);
                for (DispatchFormat format :
                        new DispatchFormat[] {DispatchFormat.FP8, DispatchFormat.FP8_ROUNDED, DispatchFormat.FP8_UE8M0
                        }) {
                    pairs.check("finite numbers, " + format, format, Form.PREPARED);
                }
                pairs.check("finite numbers, LogFMT", DispatchFormat.BF16, Form.PREPARED, CombineFormat.LOGFMT);
            }
        }
    }
}
