package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The page about metrics, parts of which are made from the sources: each stands between two comments that name it. */
final class Documentation {
    private static final Path PAGE = Path.of("../docs/metrics.md");
    private static final boolean WRITE = Boolean.getBoolean("sluice.docs.write");
    private static final String ADVICE =
            "%s is not up to date: ./sluice test --only 'MetricsPageTest' -Dsluice.docs.write=true rewrites it";

    private Documentation() {}

    /** Compares a part with what it should be, or writes it. */
    static void check(String part, String expected) throws IOException {
        String page = Files.readString(PAGE);
        String begin = "<!-- " + part + " -->\n";
        String end = "<!-- end of " + part + " -->";
        int from = page.indexOf(begin);
        int to = page.indexOf(end);
        assertThat(from).as("%s has the comment %s", PAGE, begin.strip()).isNotNegative();
        assertThat(to).as("%s has the comment %s", PAGE, end).isGreaterThan(from);
        String current = page.substring(from + begin.length(), to);
        if (WRITE && !current.equals(expected)) {
            Files.writeString(PAGE, page.substring(0, from + begin.length()) + expected + page.substring(to));
            return;
        }
        assertThat(current).as(ADVICE, PAGE).isEqualTo(expected);
    }
}
