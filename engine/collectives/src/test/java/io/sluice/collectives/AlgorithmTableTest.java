package io.sluice.collectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AlgorithmTableTest {
    @Test
    void theFirstRuleThatFitsCounts() {
        AlgorithmTable table = AlgorithmTable.parse("""
                # measured here
                all-reduce 2 4096 ring   # two ranks

                all-reduce * 1024 recursive-doubling
                """);
        assertThat(table.choose(CollectiveKind.ALL_REDUCE, 2, 4096)).isEqualTo(Algorithm.RING);
        assertThat(table.choose(CollectiveKind.ALL_REDUCE, 3, 1024)).isEqualTo(Algorithm.RECURSIVE_DOUBLING);
        assertThat(table.choose(CollectiveKind.ALL_REDUCE, 3, 1 << 20))
                .isEqualTo(AlgorithmTable.defaults().choose(CollectiveKind.ALL_REDUCE, 3, 1 << 20));
        assertThat(AlgorithmTable.parse(table.toString())).isEqualTo(table);
    }

    @Test
    void thereIsAnAlgorithmForEveryKind() {
        for (CollectiveKind kind : CollectiveKind.values()) {
            for (long bytes : new long[] {0, 1 << 10, 1L << 40}) {
                assertThat(AlgorithmTable.possible(kind))
                        .contains(AlgorithmTable.defaults().choose(kind, 7, bytes));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "all-reduce * *, four words",
        "all-reduce * * fast, fast",
        "everything * * ring, everything",
        "barrier * * ring, does not serve",
        "all-reduce * -1 ring, -1"
    })
    void aWrongRuleIsToldWithItsLine(String rule, String message) {
        String expected = message.equals("four words") ? "a rule is" : message;
        assertThatThrownBy(() -> AlgorithmTable.parse("\n" + rule))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("line 2")
                .hasMessageContaining(expected);
    }
}
