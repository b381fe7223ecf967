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

/** Provides the programs in C, which a package has built; else they are built from their sources. */
final class BaselineBuild {

    /** The compiler options of measured programs; a package is made with them, too. */
    private static final List<String> OPTIMIZED = List.of("-O2");

    private static final List<String> LANGUAGE = List.of("-std=c11", "-Wall", "-Wextra", "-Werror");
    /** Where the C library is older than 2.34 it is apart from it. */
    private static final String LIBRARY = "-ldl";

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private BaselineBuild() {}

    /** The compiler, as the launcher chooses it. */
    static String compiler() {
        String chosen = System.getenv("CC");
        return chosen == null || chosen.isBlank() ? "cc" : chosen;
    }

    /** Whether one is built, or C can be compiled, which takes a compiler and the C library's headers. */
    static boolean isPossible(CProgram program) {
        if (program.packaged() != null) {
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
     * Puts one into a folder, optimized.
     *
     * @throws MeasurementFailedException if it has to be built and the compiler fails, with the last line of what it says
     */
    static void provide(CProgram program, Path folder, BooleanSupplier interrupted)
            throws IOException, MeasurementFailedException {
        Path packaged = program.packaged();
        if (packaged == null) {
            build(program, folder, OPTIMIZED, interrupted);
        } else {
            Files.createSymbolicLink(folder.resolve(program.fileName()), packaged);
        }
    }

    /**
     * Builds one.
     *
     * @param folder for the program, and a folder with its sources
     * @param options of the compiler, besides those for the language
     * @throws MeasurementFailedException if the compiler fails, with the last line of what it says
     */
    static void build(CProgram program, Path folder, List<String> options, BooleanSupplier interrupted)
            throws IOException, MeasurementFailedException {
        Path sources = Files.createDirectory(folder.resolve(program.fileName() + ".sources"));
        List<String> command = new ArrayList<>(List.of(compiler()));
        command.addAll(LANGUAGE);
        command.addAll(options);
        command.addAll(List.of("-o", folder.resolve(program.fileName()).toString()));
        for (String name : program.files()) {
            Path file = copy(name, sources.resolve(Path.of(name).getFileName()));
            if (name.endsWith(".c")) {
                command.add(file.toString());
            }
        }
        command.add(LIBRARY);
        try (ToolProcess build = ToolProcess.start(folder, Map.of(), PATIENCE, command)) {
            build.await(PATIENCE, interrupted);
        }
    }

    /** Writes one of this package's resources. */
    static Path copy(String resource, Path file) throws IOException {
        try (InputStream in = BaselineBuild.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new FileNotFoundException("this program lacks its resource " + resource);
            }
            Files.copy(in, file);
        }
        return file;
    }
}
