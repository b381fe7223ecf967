package io.sluice.collectives.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.Algorithm;
import io.sluice.collectives.CollectiveKind;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.TeamOptions;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeaderTest {
    private static final int NUMBERS = 4096;

    @Test
    void everyCodeHasAPlace() {
        for (CollectiveKind kind : CollectiveKind.values()) {
            for (ElementType type : ElementType.values()) {
                for (ReduceOperation operation : ReduceOperation.values()) {
                    for (Algorithm algorithm : Algorithm.values()) {
                        for (int root : new int[] {0, 1, TeamOptions.MOST_RANKS - 1}) {
                            long header = Header.numbered(
                                    Header.of(kind.code(), type.code(), operation.code(), algorithm.code(), root),
                                    NUMBERS + 7,
                                    0xF_FFFF);
                            assertThat(Header.kind(header)).isEqualTo(kind.code());
                            assertThat(Header.type(header)).isEqualTo(type.code());
                            assertThat(Header.operation(header)).isEqualTo(operation.code());
                            assertThat(Header.algorithm(header)).isEqualTo(algorithm.code());
                            assertThat(Header.root(header)).isEqualTo(root);
                            assertThat(Header.number(header)).isEqualTo(7);
                        }
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "64, 0, 0, 0, 0",
        "0, 32, 0, 0, 0",
        "0, 0, 32, 0, 0",
        "0, 0, 0, 64, 0",
        "0, 0, 0, 0, 1024",
        "-1, 0, 0, 0, 0"
    })
    void whatHasNoPlaceIsRefused(int kind, int type, int operation, int algorithm, int root) {
        assertThatThrownBy(() -> Header.of(kind, type, operation, algorithm, root))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void theNumberIsTakenForTheNearest() {
        long header = Header.numbered(Header.of(1, 2, 3, 4, 5), NUMBERS - 1, 0);
        assertThat(Header.behind(header, NUMBERS - 1)).isZero();
        assertThat(Header.behind(header, NUMBERS + 9)).isEqualTo(10);
        assertThat(Header.behind(header, NUMBERS - 2)).isEqualTo(NUMBERS - 1);
    }

    @Test
    void headersOfOneCallDifferByTheirHistoriesAtMost() {
        long call = Header.of(1, 2, 3, 4, 5);
        long header = Header.numbered(call, 6, 7);
        assertThat(Header.isSameCall(header, Header.numbered(call, 6, 8))).isTrue();
        assertThat(Header.isSameCall(header, Header.numbered(call, 7, 7))).isFalse();
        assertThat(Header.isSameCall(header, Header.numbered(Header.of(1, 2, 3, 4, 6), 6, 7)))
                .isFalse();
    }

    /** Different roots surely, so that it is no matter of luck; and once they differ, the same calls do not unite them. */
    @Test
    void historiesOfDifferentCallsStayDifferent() {
        Random random = new Random(1);
        for (int round = 0; round < 1_000; round++) {
            long count = random.nextLong();
            int before = random.nextInt(1 << 20);
            Set<Integer> histories = new HashSet<>();
            for (int root = 0; root < TeamOptions.MOST_RANKS; root++) {
                histories.add(Header.history(before, Header.of(4, 3, 0, 3, root), count));
            }
            assertThat(histories).hasSize(TeamOptions.MOST_RANKS);
            Set<Integer> later = new HashSet<>();
            histories.forEach(history -> later.add(Header.history(history, Header.of(9, 1, 0, 5, 0), 0)));
            assertThat(later).hasSize(TeamOptions.MOST_RANKS);
        }
        long header = Header.of(4, 3, 0, 3, 1);
        int history = Header.history(1, header, 12);
        assertThat(Header.history(1, header, 11)).isNotEqualTo(history);
        assertThat(Header.history(1, Header.of(4, 9, 0, 3, 1), 12)).isNotEqualTo(history);
        assertThat(Header.history(1, Header.of(5, 3, 1, 3, 1), 12)).isNotEqualTo(history);
        assertThat(Header.history(0, header, 12)).isNotEqualTo(history);
    }
}
