package io.sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Compares the Java programs of a documentation page with compiled ones. In a source file a program is between the
 * comments {@code // begin} and {@code // end}; a file may have several.
 */
public final class PagePrograms {
    private static final boolean WRITE = Boolean.getBoolean("sluice.docs.write");
    private static final Pattern BLOCK = pattern("(?<=^```java\\n).*?(?=^```$)");
    private static final Pattern PROGRAM = pattern("(?<=// begin\\n).*?(?=^ *// end$)");

    private PagePrograms() {}

    private static Pattern pattern(String regex) {
        return Pattern.compile(regex, Pattern.MULTILINE | Pattern.DOTALL);
    }

    /**
     * Fails unless the Java blocks of a page are the programs of the sources, in order. Ignores white space, because the
     * formatter breaks lines where a reader would not. With the system property {@code sluice.docs.write=true} it
     * updates the page instead.
     *
     * @param page a Markdown file
     * @param sources Java files that the build compiles
     * @throws IOException if a file cannot be read or written
     */
    public static void check(Path page, Path... sources) throws IOException {
        List<String> programs = new ArrayList<>();
        for (Path source : sources) {
            programs.addAll(find(PROGRAM, Files.readString(source)));
        }
        String text = Files.readString(page);
        List<String> blocks = find(BLOCK, text);
        assertThat(blocks).as("the Java blocks of %s", page).hasSameSizeAs(programs);
        if (WRITE) {
            Iterator<String> next = programs.iterator();
            Files.writeString(page, BLOCK.matcher(text).replaceAll(block -> replacement(block.group(), next.next())));
            return;
        }
        for (int i = 0; i < blocks.size(); i++) {
            assertThat(blocks.get(i))
                    .as("block %d of %s; this test rewrites it with -Dsluice.docs.write=true", i + 1, page)
                    .isEqualToIgnoringWhitespace(programs.get(i));
        }
    }

    private static List<String> find(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(MatchResult::group).toList();
    }

    private static String replacement(String block, String program) {
        boolean isSame = block.replaceAll("\\s", "").equals(program.replaceAll("\\s", ""));
        // an empty last line would count as one without indentation
        return Matcher.quoteReplacement(isSame ? block : program.stripTrailing().stripIndent() + "\n");
    }
}
