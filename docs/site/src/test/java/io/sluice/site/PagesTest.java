package io.sluice.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pages without Javadoc, which {@code ./sluice docs} adds. */
class PagesTest {
    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    @TempDir
    Path folder;

    @Test
    void noPageOfThisProjectHasADeadLink() throws IOException {
        Site.of(ROOT).write(folder, List.of());
        assertThat(LinkCheck.dead(folder)).isEmpty();
        assertThat(folder.resolve("index.html")).content().contains("<h1 id=\"sluice\">");
        assertThat(folder.resolve("docs/limits.html")).exists();
    }

    @Test
    void aLinkWithoutItsFileOrItsPlaceIsDead() throws IOException {
        Path site = site("""
                # Here
                [a file](missing.md), [a place](#nowhere), [another's place](docs/other.md#nowhere), [outside](../up.md)

                [this](#here), [that](docs/other.md#other--more), [folder](docs), [elsewhere](https://example.org/x#y)
                """);
        assertThat(LinkCheck.dead(site))
                .containsExactly(
                        "index.html: #nowhere: that page has no such place",
                        "index.html: ../up.md: leaves the site",
                        "index.html: docs/other.html#nowhere: that page has no such place",
                        "index.html: missing.md: there is no such file");
    }

    @Test
    void sectionsAndTypesCanBeFound() throws IOException {
        assertThat(site("# Here\n\n## \"Quoted\" & more\n\nSome `code`.\n").resolve("search-index.js"))
                .content()
                .contains("[\"Here\",\"\\\"Quoted\\\" & more\",\"index.html#quoted--more\",\"Some code. \"]")
                .contains("[\"API\",\"Type\",\"api/a/Type.html\",\"a.Type\"]");
    }

    private Path site(String readme) throws IOException {
        Path root = Files.createDirectories(folder.resolve("checkout"));
        Files.writeString(root.resolve("README.md"), readme);
        Files.writeString(Files.createDirectories(root.resolve("docs")).resolve("other.md"), "# Other & more\n");
        Path site = Files.createDirectories(folder.resolve("site"));
        Site.of(root).write(site, List.of("a/Type.html"));
        return site;
    }
}
