package io.sluice.samples.browser;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.samples.dashboard.Programs;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** A browser without a screen. */
public final class Chromium {

    private static final String NAME = "chromium";
    private static final Duration BOUND = Patience.scaled(Duration.ofSeconds(90));

    private Chromium() {}

    /**
     * Skips the test, and says why, where there is no browser.
     *
     * @param consequence what is not done then
     */
    public static void assumeInstalled(String consequence) {
        Assumptions.assumeTrue(
                Programs.find(NAME).isPresent(),
                "chromium is missing, so " + consequence + ": apt-get install chromium brings it");
    }

    /** The beginning of a command line: no screen, nothing but what is asked for, its own files in a folder. */
    static List<String> command(Path folder) {
        return new ArrayList<>(List.of(
                NAME,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                "--user-data-dir=" + folder));
    }

    /**
     * Draws a page.
     *
     * @param page of files alone
     * @param width in pixels
     * @param height in pixels
     * @param folder for the browser's own files
     * @param picture a PNG, replaced if it exists
     */
    public static void shoot(URI page, int width, int height, Path folder, Path picture) throws IOException {
        Files.deleteIfExists(picture);
        Path log = Files.createTempFile(folder, NAME, ".txt");
        List<String> command = command(Files.createTempDirectory(folder, NAME));
        command.addAll(List.of(
                "--window-size=" + width + "," + height, "--screenshot=" + picture.toAbsolutePath(), page.toString()));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertThat(process.waitFor(BOUND.toNanos(), TimeUnit.NANOSECONDS))
                    .as("it ends")
                    .isTrue();
            assertThat(picture).as(Files.readString(log)).isRegularFile();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
