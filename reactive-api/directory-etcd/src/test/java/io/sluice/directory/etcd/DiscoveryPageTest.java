package io.sluice.directory.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The programs of the page about discovery are compiled ones. */
class DiscoveryPageTest {
    private static final Path PAGE = Path.of("../../docs/discovery.md");
    private static final boolean WRITE = Boolean.getBoolean("sluice.docs.write");
    private static final String BEGIN = "// begin\n";
    private static final String END = "// end\n";

    @ParameterizedTest
    @CsvSource({
        "finding each other, src/test/java/io/sluice/directory/etcd/snippets/FindingEachOther.java",
        "lending pages, src/test/java/io/sluice/directory/etcd/snippets/LendingPages.java"
    })
    void theProgramsAreCompiledOnes(String part, Path source) throws IOException {
        String expected = "```java\n" + program(Files.readString(source)) + "```\n";
        String page = Files.readString(PAGE);
        String begin = "<!-- program: " + part + " -->\n";
        String end = "<!-- end of program: " + part + " -->";
        int from = page.indexOf(begin);
        int to = page.indexOf(end);
        assertThat(from).as("%s has the comment %s", PAGE, begin.strip()).isNotNegative();
        assertThat(to).as("%s has the comment %s", PAGE, end).isGreaterThan(from);
        String current = page.substring(from + begin.length(), to);
        if (WRITE && !current.equals(expected)) {
            Files.writeString(PAGE, page.substring(0, from + begin.length()) + expected + page.substring(to));
            return;
        }
        assertThat(current)
                .as("%s: ./sluice test --only DiscoveryPageTest -Dsluice.docs.write=true rewrites it", PAGE)
                .isEqualTo(expected);
    }

    private static String program(String source) {
        String text = source.substring(source.indexOf(BEGIN) + BEGIN.length());
        // what stands before the last comment is its indentation, and an empty last line would count as one without any
        return text.substring(0, text.indexOf(END)).stripTrailing().stripIndent() + "\n";
    }
}
