package io.sluice.samples.command;

import io.sluice.jni.TextFile;
import io.sluice.jni.TextFormatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Text that is given by an option, and that an editor may have saved. */
final class WrittenText {

    private WrittenText() {}

    /**
     * Reads it, without a byte-order mark.
     *
     * @param option names the option that the path is of
     * @throws CommandFailure if it is not UTF-8
     * @throws IOException if it cannot be read
     */
    static String read(String option, Path file) throws IOException {
        try {
            return TextFile.decoded(Files.readAllBytes(file), file.toString());
        } catch (TextFormatException e) {
            throw CommandFailure.usage(option + ": " + e.getMessage());
        }
    }
}
