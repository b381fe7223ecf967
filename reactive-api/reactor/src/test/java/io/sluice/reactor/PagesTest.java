package io.sluice.reactor;

import io.sluice.testkit.PagePrograms;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The programs of the pages about Reactor are compiled ones. */
class PagesTest {
    private static final Path SOURCES = Path.of("src/test/java/io/sluice/reactor");
    private static final Path SNIPPETS = SOURCES.resolve("snippets");
    private static final Path PAGES = Path.of("../../docs");

    @Test
    void theReadmeShowsTheFirstProgram() throws IOException {
        PagePrograms.check(Path.of("../../README.md"), SOURCES.resolve("FirstProgramTest.java"));
    }

    @Test
    void reactorByTask() throws IOException {
        PagePrograms.check(
                PAGES.resolve("reactor.md"),
                SNIPPETS.resolve("Receiver.java"),
                SNIPPETS.resolve("Sender.java"),
                SNIPPETS.resolve("ReactorByTask.java"));
    }

    @Test
    void recovery() throws IOException {
        PagePrograms.check(PAGES.resolve("recovery.md"), SNIPPETS.resolve("Reconnecting.java"));
    }

    @Test
    void collectives() throws IOException {
        PagePrograms.check(PAGES.resolve("collectives.md"), SNIPPETS.resolve("TeamOfRanks.java"));
    }

    @Test
    void experts() throws IOException {
        PagePrograms.check(PAGES.resolve("experts.md"), SNIPPETS.resolve("ExpertsOfRanks.java"));
    }

    @Test
    void integrity() throws IOException {
        PagePrograms.check(PAGES.resolve("integrity.md"), SNIPPETS.resolve("CheckedWrite.java"));
    }
}
