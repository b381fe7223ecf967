package io.sluice.jni;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The descriptors that this process has open, as the kernel tells. */
final class Descriptors {
    private static final Path TABLE = Path.of("/proc/self/fd");

    private Descriptors() {}

    /** The descriptors of files, sockets or memory whose name contains a text. */
    static List<Integer> named(String text) {
        List<Integer> result = new ArrayList<>();
        try (Stream<Path> entries = Files.list(TABLE)) {
            for (Path entry : entries.toList()) {
                if (nameOf(entry).contains(text)) {
                    result.add(Integer.parseInt(entry.getFileName().toString()));
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return result;
    }

    /** Opens what a descriptor stands for once more. */
    static FileChannel openAgain(int fd, OpenOption... options) throws IOException {
        return FileChannel.open(TABLE.resolve(Integer.toString(fd)), options);
    }

    static boolean isClosedOnExec(int fd) throws IOException {
        String flags = Files.readAllLines(Path.of("/proc/self/fdinfo", Integer.toString(fd))).stream()
                .filter(line -> line.startsWith("flags:"))
                .findFirst()
                .orElseThrow();
        return (Integer.parseInt(flags.substring(6).strip(), 8) & 0x80000) != 0;
    }

    private static String nameOf(Path entry) {
        try {
            return Files.readSymbolicLink(entry).toString();
        } catch (IOException e) {
            // Closed meanwhile, as the one with which the table is read.
            return "";
        }
    }
}
