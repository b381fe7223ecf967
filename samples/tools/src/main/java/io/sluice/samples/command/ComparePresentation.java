package io.sluice.samples.command;

import io.sluice.samples.compare.ChartImages;
import io.sluice.samples.compare.CompareDocument;
import io.sluice.samples.compare.CompareMarkdown;
import io.sluice.samples.compare.ComparePage;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that draw what was compared. */
final class ComparePresentation {
    @Option(names = "--html", paramLabel = "FILE")
    private @Nullable Path html;

    @Option(names = "--markdown", paramLabel = "FILE")
    private @Nullable Path markdown;

    @Option(names = "--png", paramLabel = "FOLDER")
    private @Nullable Path png;

    /** Complains about what cannot be written, before anything is measured. */
    void require() throws IOException {
        if (html != null) {
            WholeFile.require("--html", html);
        }
        if (markdown != null) {
            WholeFile.require("--markdown", markdown);
        }
        if (markdown != null && Files.isRegularFile(markdown)) {
            requireMarks(markdown);
        }
        if (png != null && !(Files.isDirectory(png) && Files.isWritable(png))) {
            throw CommandFailure.usage("--png: " + png + " is no folder that can be written to; make it first");
        }
        if (png != null && !ChartImages.isPossible()) {
            throw CommandFailure.usage(
                    "--png: chromium is not here; on Debian, as root: apt-get install -y --no-install-recommends chromium");
        }
    }

    /** A file without marks is not overwritten. */
    private static void requireMarks(Path file) throws IOException {
        if (!CompareMarkdown.hasMarks(WholeFile.read("--markdown", file))) {
            throw CommandFailure.usage("--markdown: " + file + " is there, and has no marks for tables between them;"
                    + " --markdown with a new file writes them");
        }
    }

    /** Writes what is asked for, and says so of images. */
    void write(CompareDocument document, PrintWriter err) throws IOException {
        if (html != null) {
            WholeFile.write(html, ComparePage.of(document));
        }
        if (markdown != null) {
            WholeFile.write(
                    markdown,
                    Files.isRegularFile(markdown)
                            ? CompareMarkdown.renewed(WholeFile.read("--markdown", markdown), document)
                            : CompareMarkdown.marked(document));
        }
        if (png != null) {
            ChartImages.write(document, png).forEach(file -> err.println("sluice: " + file));
            err.flush();
        }
    }
}
