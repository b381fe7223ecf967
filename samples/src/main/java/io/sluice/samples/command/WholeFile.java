package io.sluice.samples.command;

import io.sluice.jni.TextFile;
import io.sluice.jni.TextFormatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Writes files that others never see half written. */
final class WholeFile {
    private WholeFile() {}

    /** Replaces a file, or makes it, in one step. */
    static void write(Path file, String text) throws IOException {
        if (isSpecial(file)) {
            // A device, such as the terminal, must not be replaced by a file.
            Files.writeString(file, text);
            return;
        }
        String name = "." + file.getFileName() + "." + ProcessHandle.current().pid() + ".part";
        replace(file, file.resolveSibling(name), text);
    }

    /** The same for what only this user may read. */
    static void writePrivate(Path file, String text) throws IOException {
        // Temporary files are readable by their owner alone, from their beginning.
        replace(file, Files.createTempFile(file.toAbsolutePath().getParent(), "." + file.getFileName(), ".part"), text);
    }

    private static void replace(Path file, Path part, String text) throws IOException {
        try {
            Files.writeString(part, text);
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(part);
        }
    }

    private static boolean isSpecial(Path file) {
        return Files.exists(file) && !Files.isRegularFile(file);
    }

    /**
     * Complains about a path that cannot be written, before hours are spent on its contents.
     *
     * @param option names the option that the path is of
     */
    static void require(String option, Path file) {
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw CommandFailure.usage(option + ": the folder of " + file + " does not exist; make it first");
        }
        if (Files.isDirectory(file)) {
            throw CommandFailure.usage(option + ": " + file + " is a folder; give the name of a file");
        }
        ProgramCommand.require(Files.isWritable(folder), option + ": nothing can be written to the folder of " + file);
    }

    /**
     * Reads it, without a byte-order mark.
     *
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
