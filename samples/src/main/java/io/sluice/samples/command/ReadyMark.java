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

    /** Writes the file so that whoever sees it sees all of it. */
    void set(ReadyFile contents) throws IOException {
        set(contents.toJson());
    }

    /** The same with one line of JSON. */
    void set(String json) throws IOException {
        if (file != null) {
            // Only this user can read it: a descriptor gives access.
            WholeFile.writePrivate(file, json + "\n");
        }
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            ReadyFile.remove(file);
        }
    }
}
