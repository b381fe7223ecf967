package io.sluice.directory.etcd;

import io.sluice.testkit.PagePrograms;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The programs of the page about discovery are compiled ones. */
class DiscoveryPageTest {
    private static final Path SNIPPETS = Path.of("src/test/java/io/sluice/directory/etcd/snippets");

    @Test
    void theProgramsAreCompiledOnes() throws IOException {
        PagePrograms.check(
                Path.of("../../docs/discovery.md"),
                SNIPPETS.resolve("FindingEachOther.java"),
                SNIPPETS.resolve("LendingPages.java"));
    }
}
