package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EngineIdTest {
    @Test
    void textSurvives() {
        for (EngineId id : new EngineId[] {
            new EngineId(0, 0), new EngineId(-1, 1), new EngineId(Long.MIN_VALUE, Long.MAX_VALUE), EngineId.random()
        }) {
            assertThat(id.toString()).matches("[0-9a-f]{32}");
            assertThat(EngineId.parse(id.toString())).isEqualTo(id);
        }
    }

    @Test
    void noTwoAreAlike() {
        Set<EngineId> ids = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            ids.add(EngineId.random());
        }
        assertThat(ids).hasSize(10_000);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0",
                "0123456789abcdef0123456789abcde",
                "0123456789abcdef0123456789abcdef0",
                "0123456789abcdef0123456789abcdeg",
                "-123456789abcdef0123456789abcdef",
                "0123456789abcdef 123456789abcdef"
            })
    void otherTextIsRefused(String text) {
        assertThatThrownBy(() -> EngineId.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
