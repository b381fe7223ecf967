package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Text as editors of all systems save it. */
class TextFileTest {
    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void aMarkIsNoPartOfTheText() throws TextFormatException {
        for (String text : new String[] {"", "ä", "first\r\nsecond", "EF BB BF"}) {
            assertThat(TextFile.decoded(utf8(text), "f")).isEqualTo(text);
            assertThat(TextFile.decoded(utf8("\uFEFF" + text), "f")).isEqualTo(text);
            assertThat(TextFile.unmarked(utf8("\uFEFF" + text), "f")).isEqualTo(utf8(text));
        }
        // only the first is a mark
        assertThat(TextFile.decoded(utf8("\uFEFF\uFEFFa"), "f")).isEqualTo("\uFEFFa");
        assertThat(TextFile.unmarked(new byte[] {(byte) 0xEF, (byte) 0xBB}, "f"))
                .hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-16", "x-UTF-16LE-BOM", "X-UTF-32BE-BOM", "X-UTF-32LE-BOM"})
    void theMarkOfAnotherEncodingIsNamed(String charset) {
        byte[] bytes = "text".getBytes(Charset.forName(charset));
        assertThatThrownBy(() -> TextFile.unmarked(bytes, "a file"))
                .isInstanceOf(TextFormatException.class)
                .hasMessage("a file begins with the byte-order mark of UTF-16 or UTF-32; save it as UTF-8");
    }

    @Test
    void bytesThatDoNotCountAreNotLookedAt() throws TextFormatException {
        byte[] bytes = utf8("\uFEFFa");
        assertThat(TextFile.markBytes(bytes, 2, "f")).isZero();
        assertThat(TextFile.markBytes(bytes, 3, "f")).isEqualTo(3);
    }

    @Test
    void whatIsNotUtf8IsRefusedWithoutItsBytes() {
        assertThatThrownBy(() -> TextFile.decoded("schlüssel".getBytes(StandardCharsets.ISO_8859_1), "a file"))
                .isInstanceOf(TextFormatException.class)
                .hasMessage("a file is not text in UTF-8; save it as UTF-8")
                .hasNoCause();
        assertThatThrownBy(() -> TextFile.decoded("text".getBytes(StandardCharsets.UTF_16LE), "a file"))
                .isInstanceOf(TextFormatException.class)
                .hasMessageContaining("NUL bytes");
    }
}
