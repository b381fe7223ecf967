package io.sluice.samples.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Charts as PNG files: shots of the page by a Chromium without a screen. */
public final class ChartImages {
    private static final String BROWSER = "chromium";
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int WIDTH = 1200;
    private static final int HEIGHT = 600;
    private static final int GROUP_ROOM = 40;

    private ChartImages() {}

    /** Whether there is the browser that {@link #write} needs. */
    public static boolean isPossible() {
        return SearchPath.find(BROWSER) != null;
    }

    /**
     * Draws the charts of a run into a folder, each into a file of its name.
     *
     * @return the files
     * @throws IOException if the browser fails or a file cannot be written
     */
    public static List<Path> write(CompareDocument run, Path folder) throws IOException {
        Path own = Files.createTempDirectory("sluice-charts");
        try {
            Path page = Files.writeString(own.resolve("page.html"), ComparePage.of(run));
            List<Path> files = new ArrayList<>();
            for (Chart chart : Chart.of(run)) {
                Path file = folder.resolve(chart.name() + ".png");
                Files.deleteIfExists(file);
                shoot(page, chart, own, file);
                files.add(file);
            }
            return files;
        } finally {
            deleteUsed(own);
        }
    }

    /** The browser's helpers end a moment after it, and may still write: what they leave is the temporary folder's. */
    private static void deleteUsed(Path own) {
        try {
            BenchEnvironment.delete(own);
        } catch (IOException | UncheckedIOException stillUsed) {
            own.toFile().deleteOnExit();
        }
    }

    private static void shoot(Path page, Chart chart, Path own, Path file) throws IOException {
        int room = GROUP_ROOM * chart.groups().size();
        // Its bars lie one below the other, and those of the others stand in a row.
        boolean lying = chart.name().equals("goals");
        int width = lying ? WIDTH : Math.max(WIDTH, room);
        int height = lying ? Math.max(HEIGHT, room) : HEIGHT;
        // The page shows the chart of its fragment alone, as large as the window.
        List<String> command = List.of(
                BROWSER,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                "--hide-scrollbars",
                "--user-data-dir=" + own.resolve("browser"),
                "--window-size=" + width + "," + height,
                "--screenshot=" + file.toAbsolutePath(),
                page.toUri() + "#" + chart.name());
        try (ToolProcess process = ToolProcess.start(own, Map.of(), PATIENCE, command)) {
            process.await(PATIENCE, () -> false);
            if (!Files.isRegularFile(file)) {
                throw new IOException(BROWSER + " has drawn no " + file + ": " + process.lastWords());
            }
        } catch (MeasurementFailedException e) {
            throw new IOException(BROWSER + " cannot draw " + file + ": " + e.getMessage(), e);
        }
    }
}
