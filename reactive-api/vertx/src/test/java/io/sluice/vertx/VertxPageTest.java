package io.sluice.vertx;

import io.sluice.testkit.PagePrograms;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The programs of the page about Vert.x are compiled ones. */
class VertxPageTest {
    private static final Path SNIPPETS = Path.of("src/test/java/io/sluice/vertx/snippets");

    @Test
    void theProgramsAreCompiledOnes() throws IOException {
        PagePrograms.check(
                Path.of("../../docs/vertx.md"),
                SNIPPETS.resolve("PageSender.java"),
                SNIPPETS.resolve("WaitingMover.java"),
                SNIPPETS.resolve("PeerFinder.java"),
                SNIPPETS.resolve("HealthServer.java"));
    }
}
