package io.sluice.engine.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class CompletionStatusTest {
    /** Peers of other versions read these numbers: a line may be added, and none may change. */
    @Test
    void codesOnTheWireAreThoseOfEarlierVersions() {
        Map<Integer, String> codes = Arrays.stream(CompletionStatus.values())
                .collect(Collectors.toMap(CompletionStatus::code, Enum::name, (a, b) -> a + " and " + b, TreeMap::new));
        assertThat(codes)
                .containsExactly(
                        entry(0, "SUCCESS"),
                        entry(1, "UNKNOWN_REGION"),
                        entry(2, "BAD_KEY"),
                        entry(3, "STALE_EPOCH"),
                        entry(4, "OUT_OF_BOUNDS"),
                        entry(5, "ACCESS_DENIED"),
                        entry(6, "REMOTE_MEMORY_FAULT"),
                        entry(7, "MISALIGNED"),
                        entry(8, "ATOMIC_DOMAIN"),
                        entry(9, "UNSUPPORTED"),
                        entry(10, "INTEGRITY"),
                        entry(11, "LOCAL_MEMORY_FAULT"),
                        entry(12, "OUTCOME_UNKNOWN"),
                        entry(13, "FLUSHED"),
                        entry(14, "FLUSHED_UNSENT"));
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.MATCH_ANY,
            names = "UNKNOWN.*|BAD.*|STALE.*|OUT_OF.*|ACCESS.*|REMOTE.*|MIS.*|ATOMIC.*|UNSUPPORTED|INTEGRITY")
    void aRefusalIsReadAsItWasSent(CompletionStatus status) {
        assertThat(CompletionStatus.refusal(status.code())).isEqualTo(status);
    }

    /** A peer can neither report this side's own faults nor make a refusal a success. */
    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 11, 12, 13, 14, 15, 255})
    void otherCodesAreRefusalsAllTheSame(int code) {
        assertThat(CompletionStatus.refusal(code)).isEqualTo(CompletionStatus.UNKNOWN_REGION);
    }
}
