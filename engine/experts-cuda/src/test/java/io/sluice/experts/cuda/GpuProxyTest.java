package io.sluice.experts.cuda;

import static org.assertj.core.api.Assertions.assertThat;

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

/** Ranks whose GPUs do not reach each other's memory get the bits of those that do. */
class GpuProxyTest {
    private static final int MOST_TOKENS = 6;

    private static ExpertOptions options(int hidden, int topK) {
        return ExpertOptions.experts(12)
                .hidden(hidden)
                .maxTokensPerRank(MOST_TOKENS)
                .topK(topK)
                .timeout(Patience.BOUND);
    }

    private static void check(Islands islands, int topK, int hidden, int... counts) {
        try (LowLatencyPairs pairs = new LowLatencyPairs(islands, options(hidden, topK))) {
            checkRounds(pairs, topK, hidden, counts);
        }
    }

    private static void checkRounds(LowLatencyPairs pairs, int topK, int hidden, int... counts) {
        int round = 0;
        for (int count : counts) {
            int[] tokens = new int[pairs.ranks.size()];
            for (int rank = 0; rank < tokens.length; rank++) {
                tokens[rank] = count < 0 ? rank * 5 % (MOST_TOKENS + 1) : count;
            }
            for (Choice choice : Choice.values()) {
                DispatchFormat format = DispatchFormat.values()[round % (hidden % 512 == 0 ? 4 : 3)];
                Form form = Form.values()[round % Form.values().length];
                // the first call carries rows and their extremes
                CombineFormat combined = round % 2 == 0 ? CombineFormat.LOGFMT : CombineFormat.BF16;
                pairs.draw(tokens, choice, 31L * round + topK);
                pairs.check(
                        "round %d: %s tokens, %s, %s, %s, %s"
                                .formatted(round, Arrays.toString(tokens), choice, format, form, combined),
                        format,
                        form,
                        combined);
                round++;
            }
        }
    }

    /** All apart, with neighbours, and where adapters carry. */
    @ParameterizedTest
    @Tag("soak")
    @CsvSource({
        "..,8,512",
        "aa.,2,128",
        "vv,2,512",
        "..,1,128",
        "..,8,7168",
        ".a.a,2,512",
        "....,8,2048",
        "aaa...,4,512",
        "vvv,8,128"
    })
    void has_the_bits_of_the_host(String islands, int topK, int hidden) {
        check(new Islands(islands), topK, hidden, MOST_TOKENS, 0, 1, MOST_TOKENS - 1, -1);
    }

    /** All that it takes to carry is there before the first kernel waits. */
    @Test
    void the_first_call_needs_nothing_of_the_driver_that_waits_for_kernels() {
        try (SoftGpuSetting waiting = SoftGpuSetting.awaitingKernels()) {
            check(new Islands(".."), 2, 512, MOST_TOKENS);
        }
    }

    /** Four ranks share two GPUs: each reaches one other rank. */
    @Test
    void gpus_without_peer_access_are_served_by_the_host() {
        try (SoftGpuSetting peers = SoftGpuSetting.withoutPeers();
                LowLatencyPairs pairs = new LowLatencyPairs(4, options(128, 3))) {
            for (int rank = 0; rank < 4; rank++) {
                assertThat(pairs.ranks.buffer(rank).proxied()).containsExactly((rank + 1) % 2, (rank + 1) % 2 + 2);
            }
            checkRounds(pairs, 3, 128, MOST_TOKENS);
        }
    }
}
