package io.sluice.samples.command;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** {@code --json} of commands that print one summary. */
final class SummaryOption {
    @Option(names = "--json", paramLabel = "FILE")
    private @Nullable Path json;

    /** The file that is named, or {@code null}. */
    @Nullable
    String file() {
        return json == null ? null : json.toString();
    }

    void require() {
        if (json != null) {
            WholeFile.require("--json", json);
        }
    }

    void write(String summary) throws IOException {
        if (json != null) {
            WholeFile.write(json, summary + "\n");
        }
    }
}
