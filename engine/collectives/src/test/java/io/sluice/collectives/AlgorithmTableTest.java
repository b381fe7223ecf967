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

    /** All algorithms of two ranks send as many bytes; an exchange of all needs one round, of halves half the sums. */
    @Test
    void twoRanksExchangeAllOrHalvesOfWhatTheyReduce() {
        AlgorithmTable table = AlgorithmTable.defaults();
        assertThat(table.choose(CollectiveKind.ALL_REDUCE, "tcp", 2, 64 << 10)).isEqualTo(Algorithm.RECURSIVE_DOUBLING);
        assertThat(table.choose(CollectiveKind.ALL_REDUCE, "tcp", 2, 1 << 20)).isEqualTo(Algorithm.RABENSEIFNER);
        for (long bytes : new long[] {8 << 10, 64 << 10, 1 << 20, 1L << 30}) {
            assertThat(table.choose(CollectiveKind.ALL_REDUCE, "shm", 2, bytes + 1))
                    .isEqualTo(Algorithm.MAPPED);
        }
        assertThat(table.choose(CollectiveKind.ALL_REDUCE, "tcp", 3, 1L << 30)).isEqualTo(Algorithm.RING);
    }

    @Test
    void aRuleMayNameATransport() {
        AlgorithmTable table = AlgorithmTable.parse("""
                all-reduce shm * 4096 flat
                all-reduce * * 8192 rabenseifner
                all-reduce tcp 2 * recursive-doubling
                """);
        assertThat(table.choose(CollectiveKind.ALL_REDUCE, "shm", 8, 4096)).isEqualTo(Algorithm.FLAT);
        assertThat(table.choose(CollectiveKind.ALL_REDUCE, "tcp", 8, 4096)).isEqualTo(Algorithm.RABENSEIFNER);
        assertThat(table.choose(CollectiveKind.ALL_REDUCE, 8, 4096)).isEqualTo(Algorithm.RABENSEIFNER);
        assertThat(table.choose(CollectiveKind.ALL_REDUCE, "tcp", 2, 1 << 20)).isEqualTo(Algorithm.RECURSIVE_DOUBLING);
        assertThat(AlgorithmTable.parse(table.toString())).isEqualTo(table);
    }

    @Test
    void aRuleDoesNotCountWhereItsAlgorithmCannot() {
        AlgorithmTable table = AlgorithmTable.parse("""
                all-gather * * recursive-doubling
                all-gather * * bruck
                """);
        assertThat(table.choose(CollectiveKind.ALL_GATHER, 8, 1)).isEqualTo(Algorithm.RECURSIVE_DOUBLING);
        assertThat(table.choose(CollectiveKind.ALL_GATHER, 6, 1)).isEqualTo(Algorithm.BRUCK);
    }

    @ParameterizedTest
    @CsvSource({
        "all-reduce 2 2 2 ring, neither the name of a transport",
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
