package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** No source file of the repository, in any language, is longer than a reader can take in. Generated files are none. */
class SourceLengthTest {
    private static final int MOST_LINES = 600;
    private static final Path ROOT = Path.of("..");
    private static final Set<String> EXTENSIONS = Set.of("java", "c", "h", "cu", "cuh", "js", "css", "html", "sh");

    @Test
    void noSourceFileIsTooLong() throws IOException {
        List<Path> sources = sources();
        assertThat(sources).hasSizeGreaterThan(1_000).contains(ROOT.resolve("sluice"));
        List<String> tooLong = new ArrayList<>();
        for (Path source : sources) {
            long lines;
            try (var text = Files.lines(source, StandardCharsets.UTF_8)) {
                lines = text.count();
            }
            if (lines > MOST_LINES) {
                tooLong.add(ROOT.relativize(source) + " has " + lines + " lines");
            }
        }
        assertThat(tooLong)
                .as("files of more than %d lines: split them by concern", MOST_LINES)
                .isEmpty();
    }

    private static List<Path> sources() throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                String name = folder.getFileName().toString();
                boolean skipped = name.equals("target") || (name.startsWith(".") && !folder.equals(ROOT));
                return skipped ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (attributes.isRegularFile() && isSource(file)) {
                    found.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return found;
    }

    /** A script has no extension, but a first line that names its interpreter. */
    private static boolean isSource(Path file) throws IOException {
        String name = file.getFileName().toString();
        int dot = name.lastIndexOf('.');
        if (dot >= 0) {
            return EXTENSIONS.contains(name.substring(dot + 1));
        }
        try (BufferedReader text = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
            return text.read() == '#' && text.read() == '!';
        }
    }
}
