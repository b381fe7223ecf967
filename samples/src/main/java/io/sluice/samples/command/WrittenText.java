package io.sluice.samples.command;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Text that is given by an option, and that an editor may have saved. */
final class WrittenText {

    private static final String MARK = "\uFEFF";

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
            String text = Files.readString(file);
            return text.startsWith(MARK) ? text.substring(MARK.length()) : text;
        } catch (CharacterCodingException e) {
            throw CommandFailure.usage(option + ": " + file + " is not text in UTF-8; save it as UTF-8");
        }
    }
}
