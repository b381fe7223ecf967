package io.sluice.samples.compare;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Provides the C program, which a package has built; else it is built from its sources, resources of this package. */
final class BaselineBuild {

    /** What the program is called. */
    static final String NAME = "ceiling";

    /** What it is measured as; a package is made with it, too. */
    private static final List<String> OPTIMIZED = List.of("-O2");

    private static final String HEADER = "ceiling.h";
    private static final List<String> SOURCES = List.of(
            "clock.c",
            "complaint.c",
            "cross_memory_write.c",
            "get.c",
            "hello.c",
            "main.c",
            "memory.c",
            "memory_copy.c",
            "ping_pong.c",
            "put.c",
            "sockets.c");
    private static final List<String> LANGUAGE = List.of("-std=c11", "-Wall", "-Wextra", "-Werror");
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private BaselineBuild() {}

    /** The compiler, as the launcher chooses it. */
    static String compiler() {
        String chosen = System.getenv("CC");
        return chosen == null || chosen.isBlank() ? "cc" : chosen;
    }

    /** Whether it is built, or C can be compiled, which takes a compiler and the C library's headers. */
    static boolean isPossible() {
        if (PackagedPeers.find(NAME) != null) {
            return true;
        }
        try {
            Process process = new ProcessBuilder(compiler(), "-E", "-include", "stdio.h", "-x", "c", "/dev/null")
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            boolean ended = process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            process.destroyForcibly();
            return ended && process.exitValue() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * Puts the optimized program into a folder.
     *
     * @param interrupted whether to break off
     * @throws MeasurementFailedException if it has to be built and the compiler fails, with the last line of what it says
     */
    static void provide(Path folder, BooleanSupplier interrupted) throws IOException, MeasurementFailedException {
        Path packaged = PackagedPeers.find(NAME);
        if (packaged == null) {
            build(folder, OPTIMIZED, interrupted);
        } else {
            Files.createSymbolicLink(folder.resolve(NAME), packaged);
        }
    }

    /**
     * Builds it.
     *
     * @param folder for the sources and the program
     * @param options of the compiler, besides those for the language
     * @throws MeasurementFailedException if the compiler fails, with the last line of what it says
     */
    static void build(Path folder, List<String> options, BooleanSupplier interrupted)
            throws IOException, MeasurementFailedException {
        copy(HEADER, folder);
        List<String> command = new ArrayList<>(List.of(compiler()));
        command.addAll(LANGUAGE);
        command.addAll(options);
        command.addAll(List.of("-o", folder.resolve(NAME).toString()));
        for (String source : SOURCES) {
            command.add(copy(source, folder).toString());
        }
        try (ToolProcess build = ToolProcess.start(folder, Map.of(), PATIENCE, command)) {
            build.await(PATIENCE, interrupted);
        }
    }

    private static Path copy(String name, Path folder) throws IOException {
        Path file = folder.resolve(name);
        try (InputStream in = BaselineBuild.class.getResourceAsStream(NAME + "/" + name)) {
            if (in == null) {
                throw new FileNotFoundException("this program lacks its resource " + name);
            }
            Files.copy(in, file);
        }
        return file;
    }
}
