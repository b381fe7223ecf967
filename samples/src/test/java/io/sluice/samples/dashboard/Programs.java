package io.sluice.samples.dashboard;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Programs that are not of this project. */
public final class Programs {

    private Programs() {}

    /** Where the path has one of them. */
    public static Optional<Path> find(String name) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
