package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CpuListTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"0|{0}", "0-3|{0, 1, 2, 3}", "0-1,8,10-11|{0, 1, 8, 10, 11}", "' 2 , 4 '|{2, 4}", "63-64|{63, 64}"
            })
    void readsWhatTheKernelWrites(String text, String processors) {
        assertThat(RailCpuList.parse(text).processors()).hasToString(processors);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"''|{}", "x|{}", "3-1|{}", "-1|{}", "1-x,5|{5}", "1-2-3,4|{4}", "99999999999,7|{7}"})
    void leavesOutWhatCannotBeRead(String text, String processors) {
        assertThat(RailCpuList.parse(text).processors()).hasToString(processors);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"0-3|3-4|true", "0-3|4-7|false", "''|0|false"})
    void tellsWhetherTwoMeet(String one, String other, boolean meet) {
        assertThat(RailCpuList.parse(one).intersects(RailCpuList.parse(other))).isEqualTo(meet);
        assertThat(RailCpuList.parse(other).intersects(RailCpuList.parse(one))).isEqualTo(meet);
    }
}
