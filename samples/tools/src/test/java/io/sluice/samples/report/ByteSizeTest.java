package io.sluice.samples.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteSizeTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "8, 8",
        "8B, 8",
        "4KiB, 4096",
        "4kib, 4096",
        "4KIB, 4096",
        "1MiB, 1048576",
        "2GiB, 2147483648",
        "3TiB, 3298534883328",
        "5KB, 5000",
        "64MB, 64000000",
        "64mb, 64000000",
        "7GB, 7000000000",
        "1TB, 1000000000000",
        "' 4 KiB ', 4096",
        "9223372036854775807, 9223372036854775807"
    })
    void accepts(String text, long bytes) {
        assertThat(ByteSize.parse(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "-1", "+1", "4K", "4g", "1.5GiB", "KiB", "4KiBs", "4 KiB 2", "0x10", "1_000", "٤"})
    void refusesAndSaysWhatItAccepts(String text) {
        assertThatThrownBy(() -> ByteSize.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("'" + text + "' ")
                .hasMessageContaining("KiB, MiB, GiB, TiB")
                .hasMessageContaining("such as 8, 4KiB or 64MB");
    }

    @ParameterizedTest
    @ValueSource(strings = {"9223372036854775808", "8388608TiB", "99999999999999999999KB"})
    void refusesWhatDoesNotFit(String text) {
        assertThatThrownBy(() -> ByteSize.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("too large");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 B",
        "1023, 1023 B",
        "1024, 1 KiB",
        "1536, 1.5 KiB",
        "67108864, 64 MiB",
        "2147483648, 2 GiB",
        "1099511627776, 1 TiB",
        "9223372036854775807, 8388608.0 TiB"
    })
    void formats(long bytes, String text) {
        assertThat(ByteSize.format(bytes)).isEqualTo(text);
    }
}
