package io.sluice.samples.compare;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The folders that programs are looked for in. */
public final class SearchPath {
    private SearchPath() {}

    /** The first program of a name, or {@code null}. A name with a folder is that file. */
    public static @Nullable Path find(String name) {
        if (name.contains("/")) {
            Path file = Path.of(name);
            return Files.isExecutable(file) ? file : null;
        }
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, name))
                .filter(file -> Files.isExecutable(file) && !Files.isDirectory(file))
                .findFirst()
                .orElse(null);
    }
}
