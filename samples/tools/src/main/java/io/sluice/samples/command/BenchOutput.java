package io.sluice.samples.command;

import io.sluice.samples.bench.BenchResult;
import io.sluice.samples.bench.BenchResult.BenchTable;
import io.sluice.samples.bench.CollectiveResult;
import io.sluice.samples.bench.CollectiveResult.CollectiveTable;
import io.sluice.samples.bench.ExpertResult;
import io.sluice.samples.bench.ExpertResult.ExpertTable;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** Where the figures of a measurement go, as soon as they are there. */
final class BenchOutput {
    private final PrintWriter out;
    private final PrintWriter err;
    private final PrintWriter table;
    private final boolean jsonToOut;
    private final @Nullable Path file;
    private final StringBuilder lines = new StringBuilder();
    private boolean good = true;

    /**
     * For a run of a command.
     *
     * @param json a file, {@code -} for standard output, {@code null} for nothing
     */
    BenchOutput(@Nullable String json, CommandLine command) {
        out = command.getOut();
        err = command.getErr();
        jsonToOut = "-".equals(json);
        table = jsonToOut ? err : out;
        file = json == null || jsonToOut ? null : Path.of(json);
        if (file != null) {
            WholeFile.require("--json", file);
        }
    }

    void add(BenchResult result) {
        add(BenchTable.head(result), BenchTable.line(result), result.toJson(), () -> complain(result));
    }

    void add(CollectiveResult result) {
        add(CollectiveTable.head(result), CollectiveTable.line(result), result.toJson(), () -> complain(result));
    }

    void add(ExpertResult result) {
        add(ExpertTable.head(result), ExpertTable.line(result), result.toJson(), () -> complain(result));
    }

    private void add(String head, String line, String json, Runnable complaint) {
        if (lines.isEmpty()) {
            table.print(head);
        }
        table.print(line);
        table.flush();
        complaint.run();
        lines.append(json).append('\n');
        if (jsonToOut) {
            out.println(json);
            out.flush();
        }
        write();
    }

    private void complain(ExpertResult result) {
        good &= result.isGood();
        if (result.wrong() > 0) {
            err.println("sluice: " + result.mode() + ", " + result.ranks() + " ranks: vectors that are wrong: "
                    + result.wrong());
        }
        err.flush();
    }

    private void complain(CollectiveResult result) {
        good &= result.isGood();
        if (result.wrong() > 0) {
            err.println("sluice: " + result.collective() + ", size " + result.size()
                    + ": operations with a wrong result: " + result.wrong());
        }
        err.flush();
    }

    private void complain(BenchResult result) {
        good &= result.isGood();
        Throwable error = result.firstError();
        if (error != null) {
            err.println("sluice: size " + result.size() + ": transfers that failed: " + result.errors()
                    + "; the first with " + error.getMessage() + " ("
                    + error.getClass().getSimpleName() + ")");
        }
        if (result.differing() > 0) {
            err.println(
                    "sluice: size " + result.size() + ": elements that differ from those sent: " + result.differing());
        }
        err.flush();
    }

    private void write() {
        if (file == null) {
            return;
        }
        try {
            WholeFile.write(file, lines.toString());
        } catch (IOException e) {
            throw new UncheckedIOException("--json: " + file + " cannot be written: " + e.getMessage(), e);
        }
    }

    int finish() {
        return good ? ExitCodes.OK : ExitCodes.FAILED;
    }
}
