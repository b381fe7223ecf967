package io.sluice.samples.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sluice.samples.kvcache.BlockHashes;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GeneratedTraceTest {

    private static final int MOST_TOKENS = GeneratedTrace.GeneratedTraceOptions.DEFAULT_MAX_INPUT_TOKENS;

    private static GeneratedTrace.GeneratedTraceOptions options(
            long requests, long seed, int maxInputTokens, double requestsPerSecond) {
        return new GeneratedTrace.GeneratedTraceOptions(requests, seed, maxInputTokens, requestsPerSecond);
    }

    private static List<TraceRequest> generate(GeneratedTrace.GeneratedTraceOptions options) {
        List<TraceRequest> requests = new ArrayList<>();
        try (GeneratedTrace trace = new GeneratedTrace(options)) {
            trace.forEachRemaining(requests::add);
            assertThat(trace.skipped().count()).isZero();
        }
        return requests;
    }

    private static double reusedBlocks(List<TraceRequest> requests) {
        Set<Long> seen = new HashSet<>();
        long blocks = 0;
        long reused = 0;
        for (TraceRequest request : requests) {
            for (int i = 0; i < request.blockHashes().size(); i++) {
                blocks++;
                reused += seen.add(request.blockHashes().get(i)) ? 0 : 1;
            }
        }
        return (double) reused / blocks;
    }

    @Test
    void looksLikeTheRecordedConversations() {
        List<TraceRequest> requests = generate(options(12_031, 1, MOST_TOKENS, 3.4));
        assertThat(requests).hasSize(12_031);
        assertThat(reusedBlocks(requests)).isCloseTo(0.37, within(0.01));
        int[] inputs =
                requests.stream().mapToInt(TraceRequest::inputTokens).sorted().toArray();
        assertThat(inputs[inputs.length / 2]).isBetween(5_500, 7_500);
        assertThat(Arrays.stream(inputs).average().orElseThrow()).isBetween(10_000.0, 14_000.0);
        assertThat(inputs[inputs.length - 1]).isBetween(100_000, 126_195);
        int[] outputs =
                requests.stream().mapToInt(TraceRequest::outputTokens).sorted().toArray();
        assertThat(outputs[outputs.length / 2]).isBetween(300, 400);
        assertThat(outputs[0]).isPositive();
        assertThat(requests.getLast().timestampMillis()).isBetween(3_200_000L, 3_900_000L);
    }

    @ParameterizedTest
    @ValueSource(ints = {600, 1_024, 2_048, 4_096, 16_384, 1_000_000})
    void theShareOfRepeatedBlocksHoldsForAnyLimit(int maxInputTokens) {
        List<TraceRequest> requests = generate(options(5_000, 1, maxInputTokens, 3.4));
        double possible = requests.stream()
                        .filter(request -> request.inputTokens() >= 512)
                        .count()
                / 5_000.0;
        if (possible > 0.5) {
            assertThat(reusedBlocks(requests)).isCloseTo(0.37, within(0.02));
        }
        assertThat(requests).allMatch(request -> request.inputTokens() <= maxInputTokens);
        assertThat(requests).allMatch(request -> request.inputTokens() >= 16);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 15, 16, 511})
    void limitsBelowABlockWork(int maxInputTokens) {
        List<TraceRequest> requests = generate(options(200, 1, maxInputTokens, 3.4));
        assertThat(reusedBlocks(requests)).isZero();
        assertThat(requests).allMatch(request -> request.inputTokens() <= maxInputTokens);
    }

    @Test
    void equalHashesAreEqualPrefixes() {
        Map<Long, List<Long>> prefixes = new HashMap<>();
        for (TraceRequest request : generate(options(3_000, 1, 20_000, 3.4))) {
            List<Long> prefix = new ArrayList<>();
            BlockHashes hashes = request.blockHashes();
            for (int i = 0; i < hashes.size(); i++) {
                prefix.add(hashes.get(i));
                assertThat(prefixes.computeIfAbsent(hashes.get(i), hash -> List.copyOf(prefix)))
                        .isEqualTo(prefix);
            }
        }
    }

    @Test
    void arrivalsNeverGoBack() {
        long last = 0;
        for (TraceRequest request : generate(options(2_000, 1, MOST_TOKENS, 5_000))) {
            assertThat(request.timestampMillis()).isGreaterThanOrEqualTo(last);
            last = request.timestampMillis();
        }
        assertThat(last).isBetween(300L, 500L);
    }

    @Test
    void equalSeedsGiveEqualTracesAndOthersOthers() {
        GeneratedTrace.GeneratedTraceOptions options = options(300, 1, MOST_TOKENS, 3.4);
        assertThat(generate(options)).isEqualTo(generate(options));
        assertThat(generate(options(300, 2, MOST_TOKENS, 3.4))).isNotEqualTo(generate(options));
        assertThat(generate(options(100, 1, MOST_TOKENS, 3.4)))
                .isEqualTo(generate(options).subList(0, 100));
    }

    @Test
    void theTraceOfASeedStaysTheSame() {
        List<TraceRequest> requests = generate(options(100, 1, MOST_TOKENS, 3.4));
        CRC32C crc = new CRC32C();
        for (TraceRequest request : requests) {
            String line = request.timestampMillis() + " " + request.inputTokens() + " " + request.outputTokens() + " "
                    + request.blockHashes();
            crc.update(line.getBytes(StandardCharsets.US_ASCII));
        }
        assertThat(crc.getValue()).isEqualTo(2_138_859_773L);
    }

    @Test
    void ends() {
        GeneratedTrace trace = new GeneratedTrace(options(1, 1, MOST_TOKENS, 3.4));
        assertThat(trace.next().timestampMillis()).isZero();
        assertThat(trace.hasNext()).isFalse();
        assertThatThrownBy(trace::next).isInstanceOf(NoSuchElementException.class);
    }

    @Test
    void refusesOptionsThatMakeNoSense() {
        GeneratedTrace.GeneratedTraceOptions options = options(1, 1, MOST_TOKENS, 3.4);
        assertThatIllegalArgumentException().isThrownBy(() -> options(0, 1, MOST_TOKENS, 3.4));
        assertThatIllegalArgumentException().isThrownBy(() -> options(1, 1, 0, 3.4));
        assertThatIllegalArgumentException().isThrownBy(() -> options(1, 1, (1 << 24) + 1, 3.4));
        assertThatIllegalArgumentException().isThrownBy(() -> options(1, 1, MOST_TOKENS, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> options(1, 1, MOST_TOKENS, Double.NaN));
        assertThatIllegalArgumentException().isThrownBy(() -> options(1, 1, MOST_TOKENS, 1e7));
    }
}
