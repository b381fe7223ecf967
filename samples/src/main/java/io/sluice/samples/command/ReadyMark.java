package io.sluice.samples.command;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A ready file that is there while what it says is so. */
final class ReadyMark implements AutoCloseable {

    private final @Nullable Path file;

    /**
     * Removes what an earlier process may have left.
     *
     * @param file where it goes; {@code null} if nobody wants one
     */
    ReadyMark(@Nullable Path file) throws IOException {
        this.file = file;
        if (file != null) {
            WholeFile.require("--ready-file", file);
            ReadyFile.remove(file);
        }
    }

    /** Writes the file. */
    void set(ReadyFile contents) throws IOException {
        if (file != null) {
            contents.write(file);
        }
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            ReadyFile.remove(file);
        }
    }
}
