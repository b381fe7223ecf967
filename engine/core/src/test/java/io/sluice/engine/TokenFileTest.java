package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenFileTest {
    private static final String FIRST = "first-secret-of-some-length";
    private static final String SECOND = "second-secret-of-some-length";

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void makeFile() throws IOException {
        file = folder.resolve("tokens");
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r-----")));
    }

    private TokenSource write(String text) throws IOException {
        Files.writeString(file, text);
        return TokenSource.file(file);
    }

    private static List<String> secrets(TokenSource source) {
        return source.tokens().stream()
                .map(token -> token.name() + "=" + new String(token.secret(), StandardCharsets.UTF_8))
                .toList();
    }

    @Test
    void linesAreTokensWithOrWithoutAName() throws IOException {
        TokenSource source =
                write("# rotated in November\n\n  decode-7:" + FIRST + "  \n" + SECOND + "\r\n:a:" + FIRST);
        assertThat(secrets(source)).containsExactly("decode-7=" + FIRST, "null=" + SECOND, "null=a:" + FIRST);
    }

    @Test
    void aByteOrderMarkMakesNoTokenOfAComment() throws IOException {
        assertThat(secrets(write("\uFEFF# rotated in November, by hand\r\n" + FIRST)))
                .containsExactly("null=" + FIRST);
        assertThat(secrets(write("\uFEFF" + FIRST))).containsExactly("null=" + FIRST);
    }

    /** The mark again where files were put together, a no-break and a zero-width space, a bell, a colour. */
    @ParameterizedTest
    @ValueSource(strings = {"\uFEFF", "\u00A0", "\u200B", "\u0007", "\u001B[0m"})
    void whatCannotBeSeenIsRefusedInATokenAndNamed(String hidden) throws IOException {
        TokenSource source = write(FIRST + "\n" + hidden + "# rotated in November, by hand");
        assertThatThrownBy(source::tokens)
                .isInstanceOf(SluiceException.class)
                .hasMessageContaining(file
                        + ", line 2: the token contains the invisible character U+%04X"
                                .formatted((int) hidden.charAt(0)));
    }

    @Test
    void whatIsNotUtf8IsRefused() throws IOException {
        for (Charset charset :
                List.of(StandardCharsets.UTF_16, StandardCharsets.UTF_16LE, StandardCharsets.ISO_8859_1)) {
            Files.write(file, ("schlüssel:" + FIRST).getBytes(charset));
            assertThatThrownBy(TokenSource.file(file)::tokens)
                    .isInstanceOf(SluiceException.class)
                    .hasMessageContainingAll(file.toString(), "UTF-8")
                    .hasMessageNotContaining(FIRST);
        }
    }

    @Test
    void anotherFileInItsPlaceIsReadWithinASecond() throws IOException {
        TokenSource source = write(FIRST);
        assertThat(secrets(source)).containsExactly("null=" + FIRST);
        Path next = folder.resolve("next");
        Files.copy(file, next, StandardCopyOption.COPY_ATTRIBUTES);
        Files.writeString(next, SECOND);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        Patience.until("the second token counts", () -> secrets(source).equals(List.of("null=" + SECOND)));
    }

    /** Without what the engines of other tests say as they end. */
    private static List<String> warnings(CapturedLog log) {
        return log.lines().stream()
                .filter(line -> line.contains("cannot be used"))
                .toList();
    }

    @Test
    void whatCannotBeUsedLeavesTheLastTokens() throws IOException {
        try (CapturedLog log = CapturedLog.warnings()) {
            TokenSource source = write(FIRST);
            assertThat(source.tokens()).hasSize(1);
            Files.writeString(file, "hush\n");
            Patience.until("it was looked at", () -> {
                assertThat(secrets(source)).containsExactly("null=" + FIRST);
                return !warnings(log).isEmpty();
            });
            assertThat(warnings(log))
                    .singleElement()
                    .asString()
                    .contains("line 1")
                    .doesNotContain("hush", FIRST);
            Files.delete(file);
            Patience.until("it was looked at", () -> {
                assertThat(secrets(source)).containsExactly("null=" + FIRST);
                return warnings(log).size() == 2;
            });
        }
    }

    @Test
    void looksAtMostOnceASecond() throws IOException {
        TokenSource source = write(FIRST);
        long start = System.nanoTime();
        source.tokens();
        Files.writeString(file, SECOND);
        List<String> seen = secrets(source);
        // on a machine that held this test up for a second it may have looked again
        if (System.nanoTime() - start < Duration.ofMillis(500).toNanos()) {
            assertThat(seen).containsExactly("null=" + FIRST);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-r--r--", "rw-rw--w-", "r-----r--"})
    void fileThatEverybodyMayReadOrWriteIsRefused(String permissions) throws IOException {
        TokenSource source = write(FIRST);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        assertThatThrownBy(source::tokens)
                .isInstanceOf(SluiceException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining("chmod o=")
                .hasMessageNotContaining(FIRST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n# nothing\n", "short", "name:short", "long enough to count\nbrief"})
    void filesWithoutAUsableToken(String text) throws IOException {
        TokenSource source = write(text);
        assertThatThrownBy(source::tokens)
                .isInstanceOf(SluiceException.class)
                .hasMessageContaining(file.toString())
                .hasMessageNotContaining("brief")
                .hasMessageNotContaining("short\n");
    }

    @Test
    void tooManyTooLongMissingAndNoFileAtAll() throws IOException {
        assertThatThrownBy(write((FIRST + "\n").repeat(17))::tokens).hasMessageContaining("more than 16");
        assertThatThrownBy(write("x".repeat(65_537))::tokens).hasMessageContaining("65536");
        assertThatThrownBy(TokenSource.file(folder)::tokens).hasMessageContaining("not a regular file");
        assertThatThrownBy(TokenSource.file(folder.resolve("none"))::tokens).isInstanceOf(SluiceException.class);
    }

    @Test
    void nothingTellsTheSecret() throws IOException {
        Token token = Token.named("decode-7", FIRST.getBytes(StandardCharsets.UTF_8));
        assertThat(token.toString()).isEqualTo("Token[decode-7]");
        assertThat(TokenSource.of(token).toString()).doesNotContain(FIRST);
        TokenSource source = write(FIRST);
        source.tokens();
        assertThat(source.toString()).doesNotContain(FIRST);
        assertThatThrownBy(() -> Token.named("a name", new byte[16])).isInstanceOf(IllegalArgumentException.class);
        byte[] secret = token.secret();
        secret[0]++;
        assertThat(token.secret()).isNotEqualTo(secret);
    }
}
